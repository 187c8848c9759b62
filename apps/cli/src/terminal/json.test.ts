import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toJsonText } from './json.ts';
import { unprintable } from './text.ts';

test('control characters are escaped', () => {
  expect(toJsonText({ a: '\x1b[2J \x9b2J \u202e \u{e0041}', 'b\x7f': ['\u2028'] })).toBe(
    String.raw`{"a":"\u001b[2J \u009b2J \u202e \udb40\udc41","b\u007f":["\u2028"]}`,
  );
});

test('the value is unchanged, and only line breaks of the layout remain', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = toJsonText(value, indent);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(text.replaceAll('\n', '').match(unprintable())).toBeNull();
    }),
  );
});
