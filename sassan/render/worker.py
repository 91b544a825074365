"""The layout process: DOT on standard input, the drawing on standard output.

Graphviz runs in a process of its own, so that it can be given up after a time and interrupted, and so that its warnings can be
read. This file imports nothing of sassan: it is run by its path.
"""

import sys

import pygraphviz


def main() -> None:
    """Write the drawing in the format and with the engine that the arguments name; `key=value` overrides an attribute of the graph."""
    form, engine, *settings = sys.argv[1:]
    graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode("utf-8"))
    for setting in settings:
        key, _, value = setting.partition("=")
        graph.graph_attr[key] = value
    drawing = graph.draw(format=form, prog=engine)
    if drawing is None:
        sys.exit(f"Graphviz drew no {form}")
    sys.stdout.buffer.write(drawing)


if __name__ == "__main__":
    main()
