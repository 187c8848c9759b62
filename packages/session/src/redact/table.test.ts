import { expect, test } from 'vitest';
import { createRedactor } from '../redact.ts';

/** Deterministic and random-looking, so that scanners do not report this file as a leak. */
function random(alphabet: string, length: number): string {
  let state = length;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return alphabet[Math.floor((state / 2_147_483_648) * alphabet.length)];
  }).join('');
}
const lower = 'abcdefghijklmnopqrstuvwxyz0123456789';
const hex = (length: number): string => random('0123456789abcdef', length);
const alnum = (length: number): string => random(`${lower}${lower.toUpperCase()}`, length);
const url64 = (length: number): string => random(`${lower}${lower.toUpperCase()}_-`, length);
const upper = (length: number): string => random(lower.toUpperCase(), length);
const digits = (length: number): string => random('123456789', length);

/** As published by the issuers: a prefix and a body. */
const tokens: readonly (readonly [issuer: string, token: string])[] = [
  ['age', `AGE-SECRET-KEY-1${random('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`],
  ['Anthropic', `sk-ant-api03-${url64(93)}AA`],
  ['Atlassian', `ATATT3${url64(180)}=${hex(8).toUpperCase()}`],
  ['AWS, long-term', `AKIA${random('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`],
  ['AWS, temporary', `ASIA${random('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`],
  ['Cloudflare, user', `cfut_${alnum(40)}${hex(8)}`],
  ['Cloudflare, account', `cfat_${alnum(40)}${hex(8)}`],
  ['Cloudflare, origin CA', `v1.0-${hex(24)}-${hex(146)}`],
  ['Databricks', `dapi${hex(32)}-2`],
  ['DigitalOcean, personal', `dop_v1_${hex(64)}`],
  ['DigitalOcean, OAuth', `doo_v1_${hex(64)}`],
  ['Discord, bot', `MT${alnum(24)}.${alnum(6)}.${url64(38)}`],
  ['Discord, webhook', `https://discord.com/api/webhooks/${digits(18)}/${url64(68)}`],
  ['Docker', `dckr_pat_${url64(27)}`],
  ['Doppler', `dp.pt.${alnum(43)}`],
  ['Figma', `figd_${url64(40)}`],
  ['GitHub, personal', `ghp_${alnum(36)}`],
  ['GitHub, OAuth', `gho_${alnum(36)}`],
  ['GitHub, server', `ghs_${alnum(36)}`],
  ['GitHub, fine-grained', `github_pat_${alnum(22)}_${alnum(59)}`],
  ['GitLab, personal', `glpat-${url64(20)}`],
  ['GitLab, deploy', `gldt-${url64(20)}`],
  ['Google, API', `AIza${url64(35)}`],
  ['Google, OAuth', `ya29.${url64(120)}`],
  ['Google, client secret', `GOCSPX-${url64(28)}`],
  ['Grafana', `glsa_${alnum(32)}_${hex(8)}`],
  ['Groq', `gsk_${alnum(52)}`],
  ['Heroku', `HRKU-AA${url64(58)}`],
  ['Hugging Face', `hf_${random(lower.slice(0, 26) + lower.slice(0, 26).toUpperCase(), 34)}`],
  ['JSON Web Token', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${url64(43)}`],
  ['Linear, API', `lin_api_${alnum(40)}`],
  ['Linear, OAuth', `lin_oauth_${hex(64)}`],
  ['Mailgun', `key-${hex(32)}`],
  ['New Relic', `NRAK-${upper(27)}`],
  ['Notion', `ntn_${alnum(46)}`],
  ['Notion, earlier', `secret_${alnum(43)}`],
  ['npm', `npm_${alnum(36)}`],
  ['OpenAI', `sk-proj-${url64(74)}T3BlbkFJ${url64(74)}`],
  ['OpenRouter', `sk-or-v1-${hex(64)}`],
  ['PEM', `-----BEGIN ${'PRIVATE'} KEY-----\n${alnum(64)}\n-----END ${'PRIVATE'} KEY-----`],
  ['Perplexity', `pplx-${alnum(48)}`],
  ['Postman', `PMAK-${hex(24)}-${hex(34)}`],
  ['PyPI', `pypi-AgEIcHlwaS5vcmc${url64(150)}`],
  ['Replicate', `r8_${alnum(37)}`],
  ['SendGrid', `SG.${url64(22)}.${url64(43)}`],
  ['Shopify, access', `shpat_${hex(32)}`],
  ['Shopify, shared secret', `shpss_${hex(32)}`],
  ['Slack, bot', `xoxb-${digits(12)}-${digits(12)}-${alnum(24)}`],
  ['Slack, app', `xapp-1-A${upper(10)}-${digits(13)}-${hex(64)}`],
  ['Slack, webhook', `https://hooks.slack.com/services/T${upper(8)}/B${upper(10)}/${alnum(24)}`],
  ['Square, access', `EAAA${url64(60)}`],
  ['Square, OAuth', `sq0csp-${url64(43)}`],
  ['Stripe, secret', `sk_live_${alnum(24)}`],
  ['Stripe, webhook', `whsec_${alnum(32)}`],
  ['Supabase, access', `sbp_${hex(40)}`],
  ['Supabase, secret', `sb_secret_${url64(31)}`],
  ['Telegram', `${digits(10)}:AA${url64(33)}`],
  ['Twilio', `SK${hex(32)}`],
  ['Vault', `hvs.${url64(95)}`],
  ['xAI', `xai-${alnum(80)}`],
];

const harmless: readonly string[] = [
  'const token = await next();',
  'const token = tokens[index];',
  'const token = lexer.next();',
  'let secret = readSecret(path);',
  'const password = req.body.password;',
  'const { token } = this;',
  'this.token = options.token;',
  'const apiKey = process.env.OPENAI_API_KEY;',
  'password = os.environ["DB_PASSWORD"]',
  'if (token === undefined) return;',
  'if (password !== confirmation) throw new Error("different");',
  'while (token == separator) token = scan();',
  'tokens.map((token) => token.kind)',
  'tokens.filter(token => token.length > 3)',
  'type Token = { readonly kind: string; readonly text: string };',
  '  token: string;',
  '  readonly password: string | undefined;',
  'export function login(user: string, password: string): Promise<void> {',
  'password: z.string().min(8),',
  'def login(user: str, password: str = "") -> None:',
  'csrf_token = models.CharField(max_length=64)',
  'SELECT id FROM sessions WHERE token = ?',
  'UPDATE users SET password = $1 WHERE id = $2',
  'curl -H "Authorization: Bearer $TOKEN" https://api.example.com/v1/me',
  'docker login --password $DOCKER_PASSWORD',
  `export GITHUB_TOKEN=${'$'}{GITHUB_TOKEN}`,
  `      token: ${'$'}{{ secrets.GITHUB_TOKEN }}`,
  `postgres://app:${'$'}{DB_PASSWORD}@db.internal:5432/app`,
  'https://api.example.com/items?page_token={next}',
  "import { createToken, type Token } from './token.js';",
  "const jwt = require('jsonwebtoken');",
  '<input type="password" name="password" autocomplete="current-password">',
  '<label for="token">Access token</label>',
  '.token.keyword { color: #07a; }',
  '.sk-cube-grid { width: 40px; height: 40px; }',
  ':root { --key-color: #1e90ff; --gap: 12px; }',
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
  'index e69de29bb2d1d6434b8b29ae775ad8c2e48c5391..5716ca5987cbf97d6bb54920bea6adde242d87e6 100644',
  'f47ac10b-58cc-4372-a567-0e02b2c3d479',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGkQ0p7lqv3w ann@example.com',
  '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQ\n-----END PUBLIC KEY-----',
  'd41d8cd98f00b204e9800998ecf8427e  empty.txt',
  'cache-key-d41d8cd98f00b204e9800998ecf8427e',
  'https://example.com/docs/authentication#tokens',
  'http://localhost:3000/login?next=/settings',
  '2026-11-23T21:08:10.123Z INFO request finished in 12 ms',
  'max_tokens: 4096, temperature: 0.2',
  '{"usage":{"input_tokens":1250,"output_tokens":88}}',
  'The token bucket refills at 10 tokens a second.',
  'Forgot your password? Reset it here.',
  'password_min_length = 12',
  'toolu_01A09q90qw90lq917835lq9',
  'call_abcDEF0123456789abcdefgh',
  'node_modules/.pnpm/@types+node@24.19.2/node_modules',
  'npm_config_registry=https://registry.npmjs.org/',
  'file:///home/ann/project/src/secret-santa.ts:12:34',
  'version = "1.0.0-alpha.1+build.20261123"',
];

const key = 'a key known only to the host';
const redactor = createRedactor({ key });

/** The part of a token that must be masked: of a URL, the part after its last slash. */
function core(token: string): string {
  return token.startsWith('https://') ? token.slice(token.lastIndexOf('/') + 1) : token;
}

test('60 published token shapes are masked, alone, in a sentence and in JSON', () => {
  expect(tokens).toHaveLength(60);
  const missed = tokens.filter(([, token]) =>
    [token, `The deployment uses ${token} since Monday.`, `["x","${token}"]`].some((text) =>
      String(redactor.redact(text)).includes(core(token)),
    ),
  );
  expect(missed.map(([issuer]) => issuer)).toEqual([]);
});

test.each([
  ['password = hunter2', 'hunter2'],
  ['password = correct.horse', 'correct.horse'],
  ['PASSWORD=$ecret99', '$ecret99'],
  ['password=abc(def)', 'abc'],
  ['Server=db;Password=hunter;Port=1', 'hunter'],
  ['token: s3cr3t-value', 's3cr3t-value'],
  ['secret = {"a":"hunter-two"}', 'hunter-two'],
  ['if (password === "hunter-two") return;', 'hunter-two'],
  ['$options = ["password" => "hunter-two"];', 'hunter-two'],
  ['postgres://app:$ecret99@db.internal/app', '$ecret99'],
])('%s is not a harmless line', (line, secret) => {
  // A new redactor, which has learned nothing from other lines.
  expect(createRedactor({ key }).redact(line)).not.toContain(secret);
});

test('none of 60 harmless lines is changed', () => {
  expect(harmless).toHaveLength(60);
  expect(harmless.filter((line) => redactor.redact(line) !== line)).toEqual([]);
  expect(redactor.redact(harmless.join('\n'))).toBe(harmless.join('\n'));
});
