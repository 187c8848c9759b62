"""A tool in Python: METADATA is read as a literal, and this file runs only when the tool is called."""

from _numbers import to_numbers

METADATA = {
    "name": "median",
    "function": "median",
    "dangerous": False,
    "parameters": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "description": "Numbers, parted by commas"},
            "digits": {"type": "integer", "minimum": 0, "maximum": 10, "default": 2},
        },
        "required": ["text"],
    },
    "examples": [{"description": "Three numbers", "input": {"text": "3, 1, 2"}, "output": {"count": 3, "median": 2}}],
}


def median(text, digits):
    """Find the number in the middle of a list."""
    numbers = sorted(to_numbers(text))
    middle = len(numbers) // 2
    value = numbers[middle] if len(numbers) % 2 == 1 else (numbers[middle - 1] + numbers[middle]) / 2
    return {"count": len(numbers), "median": round(value, digits)}
