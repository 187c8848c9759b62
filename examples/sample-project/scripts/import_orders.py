"""Copies new orders from the web shop's export into data/orders.csv."""

import csv
import sys


def read_export(path):
    # TODO: the export is in Latin-1 since the update in May
    with open(path, newline="", encoding="utf-8") as export:
        return list(csv.DictReader(export))


def is_new(order, known):
    # XXX: order numbers start again every January
    return order["order_id"] not in known


def main():
    known = {order["order_id"] for order in read_export("data/orders.csv")}
    new = [order for order in read_export(sys.argv[1]) if is_new(order, known)]
    print(f"{len(new)} new orders  # TODO in a text is no comment")


if __name__ == "__main__":
    main()
