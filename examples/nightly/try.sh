# Plays ten nights of a repository of two skills, each in jobs that begin with an empty disk, and looks at what they show
# together. README.md explains it. The agent is a stand-in, agent.py; no key and no model are needed.

night() {
    NIGHT=$1 skillgauge eval "skills/$2" --engine command --set "engines.command.argv=[\"$PWD/agent.py\", \"{prompt}\", \"{skill_folder}\"]" --set engines.command.skill_folder=.skills --set 'engines.command.pass_env=["NIGHT"]' --store none --format record --output-dir "artifacts/night-$1-$2" --quiet
}

for number in 1 2 3 4 5; do
    night $number commit-messages
    night $number iso-dates
done
cp mended/SKILL.md skills/iso-dates/SKILL.md
for number in 6 7 8 9 10; do
    night $number commit-messages
    night $number iso-dates
done

skillgauge history import artifacts --store history.db
skillgauge history trend --store history.db
skillgauge history trend iso-dates --store history.db
skillgauge history flaky --store history.db
skillgauge history noise --store history.db
skillgauge view export pages artifacts/*/run-*.record.json

# A second import changes nothing.
skillgauge history import artifacts --store history.db

# The case that wavers gates nothing until the day that is named; the other cases do.
cat > skillgauge.config.yaml <<'END'
quarantine:
  - case: ticket
    suite: commit-messages
    until: 9999-12-31
    reason: passed 5 of 10 (23.7% to 76.3%) in 10 runs though nothing changed
END
NIGHT=1 skillgauge eval skills/commit-messages --engine command --set "engines.command.argv=[\"$PWD/agent.py\", \"{prompt}\", \"{skill_folder}\"]" --set engines.command.skill_folder=.skills --set 'engines.command.pass_env=["NIGHT"]' --exit-on-fail --min-completion 1
