"""Test cases written by hand. `python3 -m handmade` checks them and writes handmade/cases.jsonl."""
