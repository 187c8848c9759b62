import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SettingsFormat, unwrapServers, wrapServers } from './settings.ts';

const program = ['/usr/bin/node', '/opt/holdfast/bin.js'];
const json = { format: 'json', user: false } as const;
const toml = { format: 'toml', user: false } as const;
const words = (name: string, command: string, variable?: string): string =>
  `"/opt/holdfast/bin.js", "mcp", "wrap", "--name", "${name}", ${variable === undefined ? '' : `"--env", "${variable}", `}"--", "${command}"`;

const settings = {
  '.mcp.json': `{
  // Ours, with a "quote".
  "mcpServers": {
    "Files Server": {
      "command": "npx", /* why */ "args": ["-y", /* pinned */ "@acme/files@1.2.3", "."],
      "env": { "TOKEN": "CANARY-7431" }, "x-own": [1, 2,],
    },
    "far": { "type": "http", "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer CANARY-7431" } },
    "bare": { "command": "serv\\u0065r" },
    "empty": { "command": "server", "args": [ ] },
  },
}
`,
  'claude.json': `{"numStartups":3,"mcpServers":{"a":{"type":"stdio","command":"a","args":["1"],"env":{}}},
"projects":{"/home/me/p":{"mcpServers":{"b":{"command":"b","args":[]}},"history":["mcp"]},"/home/me/q":{"allowedTools":[]}}}`,
  'vscode.json': `{\r\n\t"inputs": [{ "id": "key", "type": "promptString" }],\r\n\t"servers": {\r\n\t\t"a": {\r\n\t\t\t"command": "\${workspaceFolder}/run",\r\n\t\t\t"args": [\r\n\t\t\t\t// first\r\n\t\t\t\t"--key",\r\n\t\t\t\t"\${input:key}"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}`,
  'opencode.json': `{ "mcp": { "a": { "type": "local", "command": ["bun", "x", "server"], "enabled": true }, "b": { "type": "remote", "url": "https://example.com" } } }`,
  'gemini.json': `{ "theme": "dark", "mcpServers": { "a": { "command": "a" }, "b": { "httpUrl": "https://example.com" } } }`,
  'claude_desktop_config.json': `{"mcpServers":{"a":{"command":"npx","args":["-y","a@1.0.0"]}},"globalShortcut":""}`,
  '.cursor/mcp.json': `{ "mcpServers": { "far" : { "url" : "https://example.com/mcp", "headers" : { "X-Key": "\${env:KEY}" } } } }`,
};

const codex = `# Mine.
model = "gpt-5" # why

[mcp_servers.files]
command = 'npx' # 'literal'
args = [
  "-y", # yes
  "server",
]
env = { TOKEN = "CANARY-7431" }
startup_timeout_sec = 20

[mcp_servers."Bare One"]
command = "bare" # alone

[mcp_servers.far]
url = "https://example.com/mcp"

[mcp_servers.empty]
args = []
command = "empty"

[profiles.a]
command = "not a server"
[mcp_servers]
inline = { command = "inline" }
dotted.command = "dotted"
`;

test("Codex's config.toml is wrapped where it starts a program, and restored to the byte", () => {
  const wrapped = wrapServers(codex, program, toml);
  expect(wrapped.entries).toEqual([
    { name: 'files', state: 'changed' },
    { name: 'Bare One', state: 'changed' },
    { name: 'far', state: 'changed' },
    { name: 'empty', state: 'changed' },
    { name: 'inline', state: 'changed' },
    { name: 'dotted', state: 'changed' },
  ]);
  expect(wrapped.text).toContain(
    `command = "/usr/bin/node" # 'literal'\nargs = [${words('files', '', 'TOKEN').slice(0, -2)}'npx', \n`,
  );
  expect(wrapped.text).toContain(`command = "/usr/bin/node"\nargs  = [${words('bare-one', 'bare')}] # alone`);
  expect(wrapped.text).toContain(`inline = { command = "/usr/bin/node", args  = [${words('inline', 'inline')}] }`);
  expect(wrapped.text).toContain(`dotted.command = "/usr/bin/node"\ndotted.args  = [${words('dotted', 'dotted')}]`);
  expect(wrapped.text).toContain('command = "not a server"');
  expect(wrapServers(wrapped.text, program, toml).text).toBe(wrapped.text);
  expect(unwrapServers(wrapped.text, 'toml').text).toBe(codex);
  expect(unwrapServers(wrapped.text.replace('gpt-5', 'gpt-6'), 'toml').text).toBe(codex.replace('gpt-5', 'gpt-6'));
});

test.each(['[mcp_servers', 'a = ', '{ "mcpServers": {} }'])('a config.toml that is not TOML is refused: %j', (text) => {
  expect(() => wrapServers(text, program, toml)).toThrow(expect.objectContaining({ code: 'settings.invalid' }));
});

test('an address is reached by our program; headers become its environment, variables and all', () => {
  const { text, entries } = wrapServers(settings['.cursor/mcp.json'], program, json);
  expect(entries).toEqual([{ name: 'far', state: 'changed' }]);
  expect(text).toBe(
    `{ "mcpServers": { "far" : { "command" : "/usr/bin/node",  "args": ["/opt/holdfast/bin.js", "mcp", "wrap", "--name", "far", "--header", "X-Key", "--url", "https://example.com/mcp"], "env" : { "X-Key": "\${env:KEY}" } } } }`,
  );
  // As an editor writes it again.
  const formatted = JSON.stringify(JSON.parse(text), null, 2);
  expect(JSON.parse(unwrapServers(formatted).text)).toEqual(JSON.parse(settings['.cursor/mcp.json']));
});

test.each([
  { text: '{ "mcpServers": { "a": { "url": "https://a", "type": "sse" } } }' },
  { text: '{ "mcpServers": { "a": { "url": "https://a/sse" } } }' },
  { text: '{ "mcpServers": { "a": { "url": "https://a/sse/?key=b" } } }' },
  { text: '{ "mcpServers": { "a": { "url": "https://a", "env": {} } } }' },
  { text: '{ "mcpServers": { "a": { "url": "https://a", "headers": { "a b": "c" } } } }' },
  { text: '{ "mcpServers": { "a": { "url": "https://a", "headers": { "a": 1 } } } }' },
  { text: '{ "mcpServers": { "a": { "url": 7 } } }' },
])('an address that is not reached is left alone: $text', ({ text }) => {
  expect(wrapServers(text, program, json)).toEqual({
    text,
    entries: [{ name: 'a', state: 'remote' }],
  });
});

const reach = (more: string): string => `"/opt/holdfast/bin.js", "mcp", "wrap", ${more}`;

test.each<{ what: string; text: string; format: SettingsFormat; wrapped: string }>([
  {
    what: "Gemini's httpUrl",
    format: 'json',
    text: '{ "mcpServers": { "a": { "httpUrl": "https://a", "headers": { "X-Key": "$KEY" }, "timeout": 5 } } }',
    wrapped: `{ "mcpServers": { "a": { "command": "/usr/bin/node",  "args": [${reach('"--url", "https://a", "--name", "a", "--header", "X-Key"')}], "env": { "X-Key": "$KEY" }, "timeout": 5 } } }`,
  },
  {
    what: "Gemini's url with a type",
    format: 'json',
    text: '{ "mcpServers": { "a": { "url": "https://a", "type": "http" } } }',
    wrapped: `{ "mcpServers": { "a": { "command": "/usr/bin/node",  "args": [${reach('"--name", "a", "--url", "https://a"')}], "type": "stdio" } } }`,
  },
  {
    what: "Gemini's url, which is tried by HTTP first",
    format: 'json',
    text: '{ "mcpServers": { "a": { "url": "https://a/mcp" } } }',
    wrapped: `{ "mcpServers": { "a": { "command": "/usr/bin/node",  "args": [${reach('"--name", "a", "--url", "https://a/mcp"')}] } } }`,
  },
  {
    what: "opencode's remote",
    format: 'json',
    text: '{ "mcp": { "a": { "type": "remote", "url": "https://a", "enabled": true, "headers": { "X-Key": "{env:KEY}" } } } }',
    wrapped: `{ "mcp": { "a": { "type": "local", "command": ["/usr/bin/node", ${reach('"--name", "a", "--header", "X-Key", "--url", "https://a"')}], "enabled": true, "environment": { "X-Key": "{env:KEY}" } } } }`,
  },
  {
    what: "Codex's url",
    format: 'toml',
    text: '[mcp_servers.a]\nurl = \'https://a\' # why\nhttp_headers = { X-Key = "v" }\nenabled = true\n',
    wrapped: `[mcp_servers.a]\ncommand = "/usr/bin/node"\nargs  = [${reach('"--name", "a", "--header", "X-Key", "--url", \'https://a\'')}] # why\nenv = { X-Key = "v" }\nenabled = true\n`,
  },
  {
    what: "Codex's url with a token of a variable",
    format: 'toml',
    text: '[mcp_servers.a]\nurl = "https://a"\nbearer_token_env_var = \'TOKEN\' # mine\n',
    wrapped: `[mcp_servers.a]\ncommand = "/usr/bin/node"\nargs  = [${reach('"--name", "a", "--bearer", "TOKEN", "--url", "https://a"')}]\nenv_vars = ['TOKEN'] # mine\n`,
  },
  {
    what: "Codex's url in one line",
    format: 'toml',
    text: '[mcp_servers]\na = { url = "https://a" }\n',
    wrapped: `[mcp_servers]\na = { command = "/usr/bin/node", args  = [${reach('"--name", "a", "--url", "https://a"')}] }\n`,
  },
  {
    what: "Codex's url with dots",
    format: 'toml',
    text: '[mcp_servers]\na.url = "https://a"\n',
    wrapped: `[mcp_servers]\na.command = "/usr/bin/node"\na.args  = [${reach('"--name", "a", "--url", "https://a"')}]\n`,
  },
])('$what is reached by our program, and restored to the byte', ({ text, format, wrapped }) => {
  const found = wrapServers(text, program, { format, user: false });
  expect(found).toEqual({ text: wrapped, entries: [{ name: 'a', state: 'changed' }] });
  expect(wrapServers(wrapped, program, { format, user: false }).text).toBe(wrapped);
  expect(unwrapServers(wrapped, format).text).toBe(text);
  if (format === 'toml') return;
  // As an editor writes it again.
  const formatted = JSON.stringify(JSON.parse(wrapped), null, 2);
  expect(JSON.parse(unwrapServers(formatted, format).text)).toEqual(JSON.parse(text));
});

test.each([
  'bearer_token_env_var = "TO KEN"',
  'bearer_token_env_var = "TOKEN"\nenv_vars = ["OTHER"]',
  'env_http_headers = { X-Key = "KEY" }',
  'http_headers = { "a b" = "v" }',
  'http_headers = { X-Key = 1 }',
  '[mcp_servers.a.http_headers]\nX-Key = "v"',
])("an address of Codex's that needs more than our program gets is left alone: %s", (line) => {
  const text = `[mcp_servers.a]\nurl = "https://a"\n${line}\n`;
  expect(wrapServers(text, program, toml)).toEqual({ text, entries: [{ name: 'a', state: 'remote' }] });
});

test("the user's own servers say so, and every server says which variables its client sets", () => {
  const text =
    '{ "mcpServers": { "a": { "command": "x", "env": { "A": "1", "B": "2" } } }, "mcp": { "b": { "command": ["y"], "environment": { "C": "3" } } } }';
  const wrapped = wrapServers(text, program, { format: 'json', user: true }).text;
  expect(wrapped).toContain('"--name", "a", "--user", "--env", "A", "--env", "B", "--", "x"');
  expect(wrapped).toContain('"--name", "b", "--user", "--env", "C", "--", "y"');
  expect(unwrapServers(wrapped).text).toBe(text);
  const codexText = '[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a.env]\nTOKEN = "1"\n';
  const codexWrapped = wrapServers(codexText, program, toml).text;
  expect(codexWrapped).toContain('"--env", "TOKEN", "--", "x"');
  expect(unwrapServers(codexWrapped, 'toml').text).toBe(codexText);
});

test('a program of Codex keeps the variables that Codex hands on; a list that a person has changed stays', () => {
  const text = '[mcp_servers.a]\ncommand = "x"\nenv_vars = ["TOKEN"]\n';
  const { text: wrapped } = wrapServers(text, program, toml);
  expect(wrapped).toContain('"--env", "TOKEN", "--", "x"');
  expect(unwrapServers(wrapped, 'toml').text).toBe(text);
  const far = wrapServers('[mcp_servers.a]\nurl = "https://a"\nbearer_token_env_var = "T"\n', program, toml).text;
  const changed = far.replace('["T"]', '["T", "U"]');
  expect(unwrapServers(changed, 'toml').text).toBe(changed);
  const odd = '[mcp_servers.a]\ncommand = "x"\nenv_vars = [{ name = "TOKEN" }]\n';
  expect(wrapServers(odd, program, toml)).toEqual({ text: odd, entries: [{ name: 'a', state: 'remote' }] });
});

test("a server's own `--url` is not taken for ours", () => {
  const text = '{ "mcpServers": { "a": { "command": "npx", "args": ["server", "--url", "https://a"] } } }';
  expect(unwrapServers(wrapServers(text, program, json).text).text).toBe(text);
});

test.each(Object.entries(settings))('%s is wrapped where it starts a program, and restored to the byte', (_, text) => {
  const wrapped = wrapServers(text, program, json);
  expect(wrapped.entries.some(({ state }) => state === 'changed')).toBe(true);
  expect(wrapped.text).not.toBe(text);
  const again = wrapServers(wrapped.text, program, json);
  expect(again.text).toBe(wrapped.text);
  expect(again.entries.every(({ state }) => state !== 'changed')).toBe(true);
  expect(unwrapServers(wrapped.text).text).toBe(text);
  expect(unwrapServers(text).text).toBe(text);
});

test('the words go in front of the command, and nothing else moves', () => {
  const { text, entries } = wrapServers(settings['.mcp.json'], program, json);
  expect(entries).toEqual([
    { name: 'Files Server', state: 'changed' },
    { name: 'far', state: 'changed' },
    { name: 'bare', state: 'changed' },
    { name: 'empty', state: 'changed' },
  ]);
  expect(text).toContain(
    `"command": "/usr/bin/node", /* why */ "args": [${words('files-server', 'npx', 'TOKEN')}, "-y", /* pinned */ "@acme/files@1.2.3", "."],`,
  );
  expect(text).toContain(`"env": { "TOKEN": "CANARY-7431" }, "x-own": [1, 2,],`);
  expect(text).toContain(`"args": [${words('empty', 'server')} ]`);
});

test.each([['--'], ['--session', 'work', '--'], ['--name', 'a', '--wait', '5', '--']])(
  'what a person wrapped with %j ... is not wrapped again, and is restored',
  (...flags) => {
    const toText = (command: string, args: readonly string[]): string =>
      JSON.stringify({ mcpServers: { a: { command, args } } });
    const text = toText('holdfast', ['mcp', 'wrap', ...flags, 'npx', 'server']);
    expect(wrapServers(text, program, json).text).toBe(text);
    expect(unwrapServers(text).text).toBe(toText('npx', ['server']));
  },
);

test('what was changed since stays when the words are taken out', () => {
  const wrapped = wrapServers(settings['claude.json'], program, json).text;
  const changed = wrapped.replace('"numStartups":3', '"numStartups":4').replace('"1"', '"1","2"');
  const expected = settings['claude.json'].replace('"numStartups":3', '"numStartups":4').replace('"1"', '"1","2"');
  expect(unwrapServers(changed).text).toBe(expected);
});

test.each(['', '[]', '{', '{"mcpServers": }', 'mcpServers: {}'])(
  'settings that are not JSON are refused: %j',
  (text) => {
    for (const edit of [() => wrapServers(text, program, json), () => unwrapServers(text)])
      expect(edit).toThrow(expect.objectContaining({ code: 'settings.invalid' }));
  },
);

test.each([
  '{ "mcpServers": { "a": { "command": 7 } } }',
  '{ "mcpServers": { "a": { "command": "x", "args": [1] } } }',
  '{ "mcpServers": { "a": { "command": [] } } }',
  '{ "mcpServers": [] }',
  '{ "mcpServers": { "a": null } }',
  '{ "scripts": { "a": { "command": "x" } } }',
])('what is not the command of a server is left alone: %s', (text) => {
  expect(wrapServers(text, program, json).text).toBe(text);
});

test('any servers are restored to the byte, however the file is indented', () => {
  const server = fc.record({ command: fc.string(), args: fc.array(fc.string()) }, { requiredKeys: ['command'] });
  const names = fc.dictionary(fc.string(), server);
  fc.assert(
    fc.property(
      names,
      fc.constantFrom('mcpServers', 'servers', 'mcp'),
      fc.constantFrom(undefined, 2, '\t'),
      (servers, key, indent) => {
        const text = JSON.stringify({ before: [servers], [key]: servers, after: 1 }, null, indent);
        expect(unwrapServers(wrapServers(text, program, json).text).text).toBe(text);
      },
    ),
  );
});
