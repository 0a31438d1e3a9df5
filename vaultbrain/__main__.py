"""``python -m vaultbrain``: for services, which know the interpreter but not where its scripts are."""

from vaultbrain.cli.main import run

if __name__ == "__main__":
    run()
