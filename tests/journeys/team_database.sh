# One history for a team, in a PostgreSQL database. docs/team-database.md explains each step. `!`: it is to fail.

createdb --encoding UTF8 --template template0 evals
psql --quiet --dbname evals --file roles.sql
skillgauge store copy skillgauge.db postgresql://evals_owner@/evals
skillgauge eval calculator --store postgresql://ci@/evals
skillgauge history list --store postgresql://alice@/evals
! skillgauge eval calculator --store postgresql://alice@/evals
skillgauge eval calculator --format record --output-dir job --store job.db
skillgauge history import job --store postgresql://ci@/evals
! skillgauge history import job --store postgresql://alice@/evals
! psql --quiet --dbname evals --username alice --command "UPDATE skillgauge.runs SET started_at = 0"
! psql --quiet --dbname evals --username ci --command "DELETE FROM skillgauge.runs"
psql --quiet --dbname evals --username evals_owner --file retention.sql
pg_dump --format custom --file evals.dump evals
createdb --encoding UTF8 --template template0 evals_restored
pg_restore --dbname evals_restored evals.dump
skillgauge history list --store postgresql:///evals_restored
skillgauge store copy postgresql:///evals evals.db
