import { expect, test } from 'vitest';
import { isSafeAddress } from './model-source.ts';

const away = 'https://example.com/a.gguf';
const here = 'http://127.0.0.1:8080/a.gguf';

test.each([
  { url: away, first: away, isSafe: true },
  { url: here, first: here, isSafe: true },
  { url: 'http://localhost/a', first: here, isSafe: true },
  { url: 'http://[::1]:1/a', first: here, isSafe: true },
  { url: 'http://127.1.2.3/a', first: here, isSafe: true },
  { url: away, first: here, isSafe: true },
  // A server elsewhere sends nobody to a service of this machine.
  { url: here, first: away, isSafe: false },
  { url: 'http://example.com/a', first: here, isSafe: false },
  { url: 'http://example.com/a', first: 'http://example.com/a', isSafe: false },
  { url: 'http://127.0.0.1.example.com/a', first: here, isSafe: false },
  { url: 'http://localhost.example.com/a', first: here, isSafe: false },
  { url: 'http://10.0.0.1/a', first: here, isSafe: false },
  { url: 'https://me@example.com/a', first: away, isSafe: false },
  { url: 'https://:pw@example.com/a', first: away, isSafe: false },
  { url: 'ftp://127.0.0.1/a', first: here, isSafe: false },
  { url: 'file:///a', first: here, isSafe: false },
  { url: 'data:,a', first: here, isSafe: false },
])('$url, to begin with $first: $isSafe', ({ url, first, isSafe }) => {
  expect(isSafeAddress(new URL(url), new URL(first))).toBe(isSafe);
});
