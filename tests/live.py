"""What the tests of every game share: playing rows, and the tables of options that are live."""


def rows_of(played, first, n):
    """Play n games and return a dict for each."""
    raw = played.play(first, n)
    return [{c.name: c.value(raw[i][row]) for i, c in enumerate(played.columns)} for row in range(n)]


def differ(played, other, game):
    """Tell whether a game ends otherwise for another player, in a column that both have."""
    row, other_row = (rows_of(one, game, 1)[0] for one in (played, other))
    return any(row[name] != other_row[name] for name in row.keys() & other_row.keys())


def untried(rules, table, *, every_number=False):
    """Return the options, and the (option, value) with a name of its own, that a table (option, value, …) leaves out.

    With `every_number` the sample values of numeric options count, too.
    """
    tried = {(option, value) for option, value, *_ in table}
    missing = [name for name in rules.kinds() if not any(option == name for option, _ in tried)]
    for name, kind in rules.kinds().items():
        if every_number or hasattr(kind, "enum") or kind.samples() == [False, True]:
            missing += [(name, kind.text(value)) for value in kind.samples() if (name, kind.text(value)) not in tried]
    return missing
