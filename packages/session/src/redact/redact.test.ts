import { Buffer } from 'node:buffer';
import type { Redactor } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { createRedactor, defaultSecretKeys } from '../redact.ts';

const key = 'a key known only to the host';
const mask = /^\[redacted:[0-9a-f]{12}\]$/;

function learned(...secrets: readonly string[]): Redactor {
  const redactor = createRedactor({ key });
  for (const secret of secrets) redactor.learn(secret);
  return redactor;
}

function maskOf(secret: string): string {
  return String(createRedactor({ key, secrets: [secret] }).redact(secret));
}

function escapeAll(text: string): string {
  return text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

describe('the key', () => {
  test.each([
    { key: 'fifteen bytes..', bytes: 15 },
    { key: new Uint8Array(15), bytes: 15 },
    { key: 'éééééé', bytes: 12 },
  ])('of $bytes bytes is rejected', ({ key: short, bytes }) => {
    expect(() => createRedactor({ key: short })).toThrow(
      expect.objectContaining({ code: 'options.invalid', message: expect.stringContaining(`got ${bytes}`) }),
    );
  });

  test('gives equal masks for equal secrets, and others under another key', () => {
    const one = createRedactor({ key }).redact({ password: 'hunter-two' });
    const same = createRedactor({ key: new TextEncoder().encode(key) }).redact({ password: 'hunter-two' });
    const other = createRedactor({ key: `${key}!` }).redact({ password: 'hunter-two' });
    expect(one).toEqual({ password: expect.stringMatching(mask) });
    expect(same).toEqual(one);
    expect(other).not.toEqual(one);
  });

  test('is copied: later changes to its bytes do not affect masks', () => {
    const bytes = new TextEncoder().encode(key);
    const redactor = createRedactor({ key: bytes });
    bytes.fill(0);
    expect(redactor.redact({ password: 'hunter-two' })).toEqual({ password: maskOf('hunter-two') });
  });
});

describe('learned secrets', () => {
  const secret = 'Tr0ub4dor&3 "größer" \\ än\n';
  const bytes = Buffer.from(secret);

  test.each([
    ['as it is', secret],
    ['without the space around it', secret.trim()],
    ['in base64', bytes.toString('base64')],
    ['in base64 without its end', bytes.toString('base64').replace(/=+$/, '')],
    ['in base64url', bytes.toString('base64url')],
    ['in hexadecimal', bytes.toString('hex')],
    ['in upper-case hexadecimal', bytes.toString('hex').toUpperCase()],
    ['in a URL', encodeURIComponent(secret)],
    ['in a URL with lower-case digits', encodeURIComponent(secret).replace(/%../g, (unit) => unit.toLowerCase())],
    ['in a form', new URLSearchParams({ a: secret }).toString().slice(2)],
    ['in base64 in a URL', encodeURIComponent(bytes.toString('base64'))],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ['in JSON escapes', escapeAll(secret)],
    ['in upper case', secret.toUpperCase()],
    ['in lower case', secret.toLowerCase()],
    ['with every byte percent-encoded', [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')],
  ])('are masked %s', (_how, form) => {
    const text = `Error: it was ${form}, at line 3`;
    const redacted = learned(secret).redact({ text, [form]: [form] });
    expect(JSON.stringify(redacted)).not.toContain(form);
    expect(redacted).toEqual({
      text: `Error: it was ${maskOf(secret)}, at line 3`,
      [maskOf(secret)]: [maskOf(secret)],
    });
  });

  test.each(['', 'x', 'xy', 'user:', 'some user:'])('are masked within longer base64, behind `%s`', (before) => {
    const whole = Buffer.from(`${before}correct-horse!:after`).toString('base64');
    const redacted = String(learned('correct-horse!').redact(`Basic ${whole}`));
    expect(redacted).toContain(maskOf('correct-horse!'));
    const left = redacted.replace(/^Basic /, '').replace(maskOf('correct-horse!'), '');
    expect(left.length).toBeLessThanOrEqual(Math.ceil((before.length + 8) * 1.4) + 2);
  });

  test('of fewer than four characters are masked only where they stand alone', () => {
    const redactor = learned('abc', '123');
    expect(redactor.redact({ a: 'abc', b: 'abcd abc', c: 123, d: 1234, abc: 1 })).toEqual({
      a: maskOf('abc'),
      b: 'abcd abc',
      c: maskOf('123'),
      d: 1234,
      [maskOf('abc')]: 1,
    });
  });

  test('are masked as numbers', () => {
    expect(learned('4111111111111111').redact({ card: 4111111111111111 })).toEqual({
      card: maskOf('4111111111111111'),
    });
  });

  test('leave no remainder where they overlap', () => {
    const redacted = learned('abcdefgh', 'efghijkl', 'hijk').redact('-abcdefghijkl-');
    expect(redacted).toBe(`-${maskOf('abcdefgh')}${maskOf('efghijkl')}-`);
  });

  test('hide nothing else when they are blank, or masks', () => {
    const redactor = learned('', '    ', '[redacted:0123456789ab]');
    expect(redactor.redact('a    b [redacted:0123456789ab]')).toBe('a    b [redacted:0123456789ab]');
  });

  test('cannot hide in a fake mask', () => {
    const hidden = Buffer.from('hunter').toString('hex');
    expect(learned('hunter').redact(`see [redacted:${hidden}]`)).toBe(`see ${maskOf('hunter')}`);
  });

  test('match digits of a mask only if they are long enough', () => {
    const redactor = learned('some secret');
    const digits = maskOf('some secret').slice(10, 14);
    redactor.learn(digits);
    expect(redactor.redact('some secret')).toBe(maskOf('some secret'));
  });

  test('are forgotten oldest first beyond the limit, except those of the options', () => {
    const redactor = createRedactor({ key, secrets: ['the-one-of-the-host'] });
    redactor.learn('the-very-first-one');
    for (let index = 0; index < 300; index += 1) redactor.learn(`${index}-${'x'.repeat(4_000)}`);
    expect(redactor.redact(['the-very-first-one', 'the-one-of-the-host', `299-${'x'.repeat(4_000)}`])).toEqual([
      'the-very-first-one',
      maskOf('the-one-of-the-host'),
      maskOf(`299-${'x'.repeat(4_000)}`),
    ]);
  });

  test('are masked within JSON text, which otherwise stays unchanged', () => {
    expect(learned('hunter-two').redact('{ "a": 1.0, "b": "x hunter-two" }')).toBe(
      `{ "a": 1.0, "b": "x ${maskOf('hunter-two')}" }`,
    );
    // Visible only after parsing.
    expect(learned('hunter-two').redact('{"b":"\\u0068unter-two","c":"\\u00e9\\"x"}')).toBe(
      `{"b":"${maskOf('hunter-two')}","c":"é\\"x"}`,
    );
  });
});

describe('values under secret names', () => {
  test.each([
    'password',
    'Password',
    'DB_PASSWORD',
    'dbpassword',
    'user-password',
    'newPassword2',
    'passwd',
    'secret',
    'client_secret',
    'clientSecret',
    'token',
    'githubToken',
    'X-Auth-Token',
    'apiKey',
    'api_key',
    'APIKEY',
    'OPENAI_API_KEY',
    'x-api-key',
    'Authorization',
    'Proxy-Authorization',
    'Set-Cookie',
    'cookie',
    'privateKey',
    'private_key_pem'.slice(0, 11),
    'aws_secret_access_key',
    'passphrase',
  ])('`%s` are masked as a whole', (name) => {
    const redactor = createRedactor({ key });
    expect(redactor.redact({ deep: [{ [name]: 'v' }] })).toEqual({ deep: [{ [name]: maskOf('v') }] });
    expect(redactor.redact({ [name]: { a: ['b'] } })).toEqual({ [name]: expect.stringMatching(mask) });
    expect(redactor.redact({ [name]: 4711 })).toEqual({ [name]: maskOf('4711') });
  });

  test.each([
    'inputTokens',
    'outputTokens',
    'maxTokens',
    'max_token',
    'nextPageToken',
    'NextToken',
    'tokenCount',
    'tokens',
    'secretary',
    'keyboard',
    'key',
    'passwordPolicy',
    'author',
    'idempotencyKey',
    'sessionId',
  ])('`%s` are not secrets', (name) => {
    const json = { [name]: 'v', list: [{ [name]: 4711 }] };
    expect(createRedactor({ key }).redact(json)).toBe(json);
  });

  test('stay if they carry no information', () => {
    const json = { password: '', token: null, secret: true, reset_password: 999, text: '{"token": 12, "secret": -7}' };
    expect(createRedactor({ key }).redact(json)).toBe(json);
  });

  test('are recognized by neighboring fields, too', () => {
    expect(
      createRedactor({ key }).redact({
        headers: [
          { name: 'Accept', value: 'a' },
          { name: 'Authorization', value: 'b' },
        ],
        entries: [
          ['accept', 'a'],
          ['cookie', 'b'],
        ],
        variable: { key: 'api_key', value: { c: 1 } },
        words: ['password', 'token'],
      }),
    ).toEqual({
      headers: [
        { name: 'Accept', value: 'a' },
        { name: 'Authorization', value: maskOf('b') },
      ],
      entries: [
        ['accept', 'a'],
        ['cookie', maskOf('b')],
      ],
      variable: { key: 'api_key', value: expect.stringMatching(mask) },
      words: ['password', 'token'],
    });
  });

  test.each([
    ['{"user":"ann","password":"v-4711"}', '{"user":"ann","password":"M"}'],
    ['{"password": "v-4711", "a": 1', '{"password": "M", "a": 1'],
    ['{"password":"v-4711', '{"password":"M'],
    ['bad input {"password" : "v-4711"}!', 'bad input {"password" : "M"}!'],
    ['{"body":"{\\"password\\":\\"v-4711\\"}"}', '{"body":"{\\"password\\":\\"M\\"}"}'],
    ['{"password":"v-4711","password":"x"}', '{"password":"M","password":"DOUBLE"}'],
    ["{ password: 'v-4711', user: 'ann' }", "{ password: 'M', user: 'ann' }"],
    ['GET /?a=1&access_token=v-4711&b=2', 'GET /?a=1&access_token=M&b=2'],
    ['DB_PASSWORD=v-4711 node main.js', 'DB_PASSWORD=M node main.js'],
    ['Server=x;Password=v-4711;Port=1', 'Server=x;Password=M;Port=1'],
    ['deploy --token v-4711 --force', 'deploy --token M --force'],
    ['deploy --token=v-4711 --force', 'deploy --token=M --force'],
    ['<password>v-4711</password>', '<password>M</password>'],
    ['a: 1\npassword: v-4711\nb: 2', 'a: 1\npassword: M\nb: 2'],
    ['invalid token: v-4711.', 'invalid token: M'],
    ["curl -H 'X-Api-Key: v-4711' x", "curl -H 'X-Api-Key: M' x"],
    ['config.api_key = "v-4711";', 'config.api_key = "M";'],
    [':password => "v-4711"', ':password => "M"'],
  ])('are masked in the text %s', (text, expected) => {
    const value = text.includes('v-4711.') ? 'v-4711.' : 'v-4711';
    const redacted = createRedactor({ key }).redact(text);
    expect(redacted).toBe(expected.replace('M', maskOf(value)).replace('DOUBLE', maskOf('x')));
  });

  test('take the rest of a header line', () => {
    expect(createRedactor({ key }).redact('Host: x\r\nCookie: a=b; c=d\r\nAccept: y')).toBe(
      `Host: x\r\nCookie: ${maskOf('a=b; c=d')}\r\nAccept: y`,
    );
  });

  test.each([
    'The secret: nobody knows it.',
    'An invalid password: too short.',
    '`password`: Required, but missing.',
    'token://somewhere',
    '{"password":null,"token":true}',
    'secret=null',
    'Password reset was asked for.',
    'inputTokens: 12',
  ])('are not seen in %s', (text) => {
    expect(createRedactor({ key }).redact(text)).toBe(text);
  });

  test('are masked elsewhere in this record and later ones, unless they may be a word', () => {
    const redactor = createRedactor({ key });
    expect(redactor.redact({ before: 'is it v-4711-x?', password: 'v-4711-x', token: 'completed' })).toEqual({
      before: `is it ${maskOf('v-4711-x')}?`,
      password: maskOf('v-4711-x'),
      token: maskOf('completed'),
    });
    expect(redactor.redact('v-4711-x completed')).toBe(`${maskOf('v-4711-x')} completed`);
  });

  test('can be replaced', () => {
    const redactor = createRedactor({ key, keys: [...defaultSecretKeys, 'National-ID'] });
    expect(redactor.redact({ nationalId: 'v', password: 'w' })).toEqual({
      nationalId: maskOf('v'),
      password: maskOf('w'),
    });
    expect(createRedactor({ key, keys: [] }).redact({ password: 'w' })).toEqual({ password: 'w' });
  });
});
