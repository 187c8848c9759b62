def to_numbers(text):
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise ValueError(f"only numbers, parted by commas: {error}") from None
