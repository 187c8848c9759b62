import type { Json } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { createRedactor, defaultSecretPatterns } from '../redact.ts';

const key = 'a key known only to the host';
const redactor = createRedactor({ key });

function maskOf(secret: string): string {
  return String(createRedactor({ key, secrets: [secret] }).redact(secret));
}

/** Split so that scanners do not report this file as a leak. */
const letters = 'abcdefghij0123456789ABCDEFGHIJ0123456789';
const pem = [
  '-----BEGIN',
  ' RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEow\nIBAA==\n-----END RSA PRIVATE KEY-----',
].join('');

describe('tokens of known issuers', () => {
  test.each([
    `AKIA${'IOSFODNN7EXAMPLE'}`,
    `ASIA${'IOSFODNN7EXAMPLE'}`,
    `ghp_${letters.slice(0, 36)}`,
    `gho_${letters.slice(0, 36)}`,
    `ghs_${letters.slice(0, 36)}`,
    `github_pat_${letters.slice(0, 22)}_${letters}`,
    `glpat-${letters.slice(0, 20)}`,
    `glrt-t1_${letters.slice(0, 20)}`,
    `xoxb-${'1234567890-abcdefABCDEF'}`,
    `xoxe.xoxp-${'1-abcdefABCDEF'}`,
    `xapp-${'1-A012-345-abcdef'}`,
    `npm_${letters.slice(0, 36)}`,
    `sk_live_${letters.slice(0, 24)}`,
    `rk_test_${letters.slice(0, 24)}`,
    `whsec_${letters.slice(0, 32)}`,
    `sk-${letters}`,
    `sk-proj-${letters}_${letters}`,
    `sk-ant-api03-${letters}-${letters}AA`,
    `AIza${letters.slice(0, 35)}`,
    `ya29.${letters}`,
    `GOCSPX-${letters.slice(0, 28)}`,
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${letters}`,
    pem,
  ])('%s', (token) => {
    const mask = maskOf(token);
    expect(redactor.redact({ a: [token], [token]: null, b: `see ${token}, "${token}"` })).toEqual({
      a: [mask],
      [mask]: null,
      b: `see ${mask}, "${mask}"`,
    });
  });

  test.each([
    [`Authorization failed for Bearer ${letters}.`.slice(0, -1), letters],
    ['bearer abcdef-1', 'abcdef-1'],
    ['postgres://ann:pa:s@s@db.example:5432/x', 'pa:s@s'],
    ['see https://ann:pa%20ss@example.com/?q=1.', 'pa%20ss'],
    ['https://hooks.slack.com/services/T0000/B0000/abcdefghij', 'T0000/B0000/abcdefghij'],
  ])('a part of %s', (text, secret) => {
    expect(redactor.redact(text)).toBe(text.replace(secret, maskOf(secret)));
  });

  test('a private key without its end, and one whose line ends are escaped', () => {
    const body = '-----BEGIN PRIVATE KEY-----\\nMIIEow\\nIBAA==';
    expect(redactor.redact(`"key=x ${body}"`)).toBe(`"key=x ${maskOf(body)}"`);
  });

  test.each([
    'a task-force-of-people-1234567890',
    'sk-learn',
    'https://example.com:8080/a@b',
    'http://localhost:3000, mail to ann@example.com',
    'the bearer of bad news',
    'global-configuration-of-everything-1',
    'call_0123456789abcdefghij',
    'toolu_01ABCDEFGHIJKLMNOPQRSTUV',
    '2026-11-22-04-08-51-0a1b2c3d',
    '-----BEGIN CERTIFICATE-----\nMIIEow\n-----END CERTIFICATE-----',
  ])('%s is not a token', (text) => {
    expect(redactor.redact(text)).toBe(text);
  });

  test('can be replaced', () => {
    const own = createRedactor({
      key,
      patterns: [...defaultSecretPatterns, /ACME-\d+/i, /(?<=code )(?<secret>\d{4})/y],
    });
    expect(own.redact(`acme-12 code 4711 AKIA${'IOSFODNN7EXAMPLE'}`)).toBe(
      `${maskOf('acme-12')} code ${maskOf('4711')} ${maskOf(`AKIA${'IOSFODNN7EXAMPLE'}`)}`,
    );
    expect(createRedactor({ key, patterns: [] }).redact(`sk-${letters}`)).toBe(`sk-${letters}`);
  });
});

describe('hostile text of a quarter of a megabyte', () => {
  const size = 262_144;
  const units = [
    'a',
    ' ',
    '"',
    '\\',
    '\\"',
    '{',
    '[',
    '{"a":',
    '[[',
    '%25',
    '\\\\u005c',
    '-',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    'eyJ',
    'eyJhbGciOiJ.',
    'eyJaaaaaa.eyJ',
    'sk-',
    'sk-a',
    'ghp_',
    'github_pat_',
    'glpat-',
    'xoxb-',
    'xapp-',
    'ya29.',
    'whsec_',
    'AKIA',
    'AIza',
    'Bearer ',
    'bearer a',
    '://',
    '://a:',
    '://a:b',
    'a://b:c@',
    'password=',
    'password:',
    '"password":"',
    '"password":{',
    'password=[',
    '--token ',
    '<token>',
    'token',
    'password=\\',
    'a=',
    'SG.',
    '12345678:AA',
    'MTaaaaaaaaaaaaaaaaaaaaaa.aaaaaa.',
    'token = a.',
    'token = {',
    'a:',
    '[redacted:',
    '[redacted:0123456789ab]',
    'hooks.slack.com/services/',
    '\u{1f600}',
    `AKIA${'IOSFODNN7EXAMPLE'} hunter-two `,
    '\ud83d',
  ];

  // Tens of milliseconds each; a quadratic search takes minutes.
  test.each(units)('%j is searched in linear time', { timeout: 30_000 }, (unit) => {
    const hostile = createRedactor({ key, secrets: ['hunter-two', 'aaaaaaab', 'a-very-long-secret-indeed'] });
    expect(typeof hostile.redact(unit.repeat(Math.ceil(size / unit.length)))).toBe('string');
  });

  test('deep JSON is masked below the limit', () => {
    const deep = `${'['.repeat(100_000)}"password"${']'.repeat(100_000)}`;
    expect(typeof redactor.redact(deep)).toBe('string');
    let nested: Json = 'x';
    for (let level = 0; level < 10_000; level += 1) nested = [nested];
    expect(JSON.stringify(redactor.redact(nested))).toContain('[redacted:');
  });
});
