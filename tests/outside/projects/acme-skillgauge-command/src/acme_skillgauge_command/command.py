"""The command."""

import click


@click.command()
@click.option("--name", default="ACME", show_default=True, help="Whom to greet.")
def hello(name: str) -> None:
    """Greet someone."""
    click.echo(f"Hello, {name}.")
