import { expect, test } from 'vitest';
import { describePatch, fetchFacts, fileFacts, mcpFacts, noFacts, patchFacts } from '../index.ts';
import { folder } from '../test-folder.ts';
import { joinFacts } from './union.ts';

const paths = (places: readonly { readonly path: string }[] = []): string => places.map(({ path }) => path).join(' ');

test.each([
  { tool: 'Read', input: { file_path: '/etc/passwd' }, reads: '/etc/passwd' },
  { tool: 'Read', input: { file_path: 'x' }, reads: '/w/.env' },
  { tool: 'read_file', input: { path: '~/.ssh/id_ed25519' }, reads: '/home/me/.ssh/id_ed25519' },
  { tool: 'read_file', input: { path: 'file:///w/%2Eenv' }, reads: '/w/.env' },
  { tool: 'read_multiple_files', input: { paths: ['a', 'b'] }, reads: '/w/a /w/b' },
  { tool: 'Write', input: { file_path: '../a' }, writes: '/a' },
  { tool: 'Edit', input: { file_path: 'src/a.ts' }, reads: '/w/src/a.ts', writes: '/w/src/a.ts' },
  { tool: 'NotebookEdit', input: { notebook_path: 'a.ipynb' }, reads: '/w/a.ipynb', writes: '/w/a.ipynb' },
  { tool: 'delete_file', input: { path: 'a' }, deletes: '/w/a' },
  { tool: 'move_file', input: { source: 'a', destination: 'b' }, reads: '/w/a', writes: '/w/b', deletes: '/w/a' },
  { tool: 'Grep', input: { pattern: 'a' }, reads: '/w' },
  { tool: 'Grep', input: { pattern: 'a', path: 'src' }, reads: '/w/src' },
  { tool: 'list_directory', input: { path: '/' } },
])('$tool $input', ({ tool, input, reads = '', writes = '', deletes = '' }) => {
  const facts = fileFacts().describe({ tool, input }, folder);
  expect({ reads: paths(facts?.reads), writes: paths(facts?.writes), deletes: paths(facts?.deletes) }).toEqual({
    reads,
    writes,
    deletes,
  });
  expect(facts?.unclear).toEqual([]);
});

test('a file tool with an unreadable path is unclear; other tools are skipped', () => {
  expect(fileFacts().describe({ tool: 'Read', input: {} }, folder)?.unclear).toHaveLength(1);
  expect(fileFacts().describe({ tool: 'Read', input: { file_path: 1 } }, folder)?.unclear).toHaveLength(1);
  expect(fileFacts().describe({ tool: 'pay', input: {} }, folder)).toBeUndefined();
  const own = fileFacts({ tools: { load: { reads: ['from'] } } });
  expect(paths(own.describe({ tool: 'load', input: { from: '.env' } }, folder)?.reads)).toBe('/w/.env');
});

const body =
  '*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+*** Delete File: no\n*** Add File: c\n+y\n*** Delete File: x\n*** End Patch\n';
const diff = `diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,2 +1,2 @@
 a
--- a/not/a/header
+++ b/not/a/header
diff --git "a/\\303\\251" b/old
rename from "\\303\\251"
rename to new
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
`;

test('a patch lists the files that it creates, changes, moves and deletes; its hunks are only text', () => {
  const facts = describePatch(body, folder);
  expect([paths(facts.reads), paths(facts.writes), paths(facts.deletes)]).toEqual([
    '/w/a',
    '/w/a /w/b /w/c',
    '/w/.env',
  ]);
  const unified = describePatch(diff, folder);
  expect(paths(unified.writes)).toBe('/w/b/src/a.ts /w/src/a.ts /w/new');
  expect(paths(unified.deletes)).toContain('/w/\u00e9');
  expect(paths(unified.deletes)).toContain('/w/gone');
  expect(paths(unified.reads)).not.toContain('header');
});

test('a patch tool is read by its argument', () => {
  expect(paths(patchFacts().describe({ tool: 'apply_patch', input: { command: body } }, folder)?.writes)).toContain(
    '/w/c',
  );
  expect(patchFacts().describe({ tool: 'apply_patch', input: {} }, folder)?.unclear).toHaveLength(1);
  expect(patchFacts().describe({ tool: 'apply_patch', input: { patch: 'hello' } }, folder)?.unclear).toHaveLength(1);
  expect(patchFacts().describe({ tool: 'Read', input: {} }, folder)).toBeUndefined();
});

test.each([
  { url: 'https://me@a.example/' },
  { url: 'https://evil.test\\@a.example/' },
  { url: 'https://a.example/ b' },
  { url: 'https://a%2eexample/' },
  { url: 'a.example' },
  { url: [] },
  { url: 'https://a.example/', method: ['POST'] },
])('an ambiguous address is unclear: %j', (input) => {
  expect(fetchFacts().describe({ tool: 'fetch', input }, folder)).toMatchObject({ unclear: [{ kind: 'words' }] });
});

test.each([
  { input: { url: 'https://A.example/x' }, hosts: [{ scheme: 'https', host: 'a.example', sends: false }] },
  {
    input: { url: 'https://a.example:1/', method: 'post' },
    hosts: [{ scheme: 'https', host: 'a.example', port: 1, method: 'POST', sends: true }],
  },
  { input: { url: 'http://a', body: 'x' }, hosts: [{ scheme: 'http', host: 'a', sends: true }] },
])('a request: $input', ({ input, hosts }) => {
  expect(fetchFacts().describe({ tool: 'fetch', input }, folder)).toMatchObject({
    hosts,
    untrusted: true,
    unclear: [],
  });
});

test('a `file:` request reads the file, a search sends its words, and an invalid address is unclear', () => {
  expect(paths(fetchFacts().describe({ tool: 'fetch', input: { url: 'file:///w/x' } }, folder)?.reads)).toBe('/w/.env');
  expect(fetchFacts().describe({ tool: 'WebSearch', input: { query: 'x' } }, folder)?.hosts).toMatchObject([
    { sends: true },
  ]);
  expect(fetchFacts().describe({ tool: 'fetch', input: { url: 5 } }, folder)?.unclear).toHaveLength(1);
});

test('known tools of an MCP server are described like others; unknown ones are unclear, with every argument that looks like a path', () => {
  const facts = mcpFacts({ server: 'fs' });
  expect(paths(facts.describe({ tool: 'mcp__fs__read_file', input: { path: '.env' } }, folder)?.reads)).toBe('/w/.env');
  expect(facts.describe({ tool: 'fs_read_file', input: { path: 'a' } }, folder)?.untrusted).toBe(true);
  const unknown = facts.describe({ tool: 'mcp_fs_crop', input: { image: './x', width: 5 } }, folder);
  expect([paths(unknown?.reads), paths(unknown?.writes), unknown?.unclear[0]?.kind]).toEqual([
    '/w/.env',
    '/w/.env',
    'tool',
  ]);
  expect(facts.describe({ tool: 'mcp__other__read_file', input: {} }, folder)).toBeUndefined();
  expect(
    mcpFacts({ server: 'fs', trusted: true }).describe({ tool: 'fs_read_file', input: { path: 'a' } }, folder)
      ?.untrusted,
  ).toBe(false);
});

test('joined facts renumber the positions', () => {
  const run = {
    program: 'a',
    arguments: [],
    folder: '/w',
    environment: [],
    decides: true,
    background: false,
    written: false,
  };
  const facts = {
    ...noFacts,
    runs: [
      { ...run, after: [] },
      { ...run, after: [0] },
    ],
  };
  expect(joinFacts([facts, facts]).runs.map(({ after }) => after)).toEqual([[], [0], [], [2]]);
});
