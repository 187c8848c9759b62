// Prompt texts can be edited outside the code: they come from a file, and an override whose original has changed is skipped.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, toolOk } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { createPrompt, loadOverrides, markdownSection, type OverrideReport, seedOverrides } from '@holdfast/prompt';
import { fileOverrides } from '@holdfast/prompt/node';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';

const search = defineTool({
  name: 'search',
  description: 'Search the manual.',
  inputSchema: v.object({ words: v.pipe(v.string(), v.description('What to look for')) }),
  effects: 'none',
  execute: ({ words }) => toolOk(null, `Page 7 is about ${words}.`),
});
const createSupport = (role: string) =>
  createPrompt({
    ns: 'examples',
    key: 'support',
    sections: [
      markdownSection({ title: 'Role', template: role, params: v.object({ shop: v.string() }), tools: [search] }),
      markdownSection({ title: 'Law', template: 'Promise nothing.', acceptsOverrides: false }),
    ],
  });
const prompt = createSupport('You work for $shop.');

// The default folder is `.holdfast/overrides`, committed with the code.
const folder = mkdtempSync(join(tmpdir(), 'holdfast-'));
const store = fileOverrides(folder);
assert.equal((await seedOverrides(prompt, { store })).created, true);
assert.equal((await seedOverrides(prompt, { store })).created, false);

// A person edits the file: the role, the tool's description, and a section that the code locks.
const path = join(folder, 'examples', 'support', 'latest.json');
const document = JSON.parse(readFileSync(path, 'utf8'));
assert.deepEqual(Object.keys(document.sections), ['role']);
document.sections.role.body.text = 'You are the voice of $shop.';
document.tools.search.description.text = 'Search all 900 pages of the manual.';
document.tools.search.parameters.words.text = 'One or two words';
document.sections.law = { body: { hash: null, text: 'Promise the moon.' } };
writeFileSync(path, JSON.stringify(document));

const edited = (list: OverrideReport['applied']) =>
  list.filter((override) => override.edited).map(({ section, tool, part }) => `${section ?? tool}: ${part}`);
const loaded = await loadOverrides(prompt, { store });
assert.deepEqual(edited(loaded.applied), ['role: body', 'search: description', 'search: parameters.words']);
assert.deepEqual(edited(loaded.unknown), ['law: body']);

// The model sees the new texts; calls do not change.
const call = { name: 'search', arguments: { words: 'tea' } };
const model = scriptedModel([{ calls: [call] }, { text: 'On page 7.' }]);
const bound = loaded.prompt.bind({ shop: 'Tea & Co.' });
const run = runAgent({ model, prompt: bound, session: createSession(), input: 'Where is tea?' });
assert.equal((await run.result).outcomes[0]?.text, 'Page 7 is about tea.');
const [request] = model.requests;
assert.match(request?.messages[0]?.text ?? '', /You are the voice of Tea & Co\.[\s\S]+Promise nothing\./);
assert.equal(request?.tools[0]?.description, 'Search all 900 pages of the manual.');
assert.match(JSON.stringify(request?.tools[0]?.inputSchema), /One or two words/);

// The code has changed: the override may no longer fit, so it is skipped until a person reviews it.
const later = await loadOverrides(createSupport('You work for $shop, and answer in Dutch.'), { store });
assert.deepEqual(edited(later.stale), ['role: body']);
assert.match(later.prompt.bind({ shop: 'Books' }).render().text, /answer in Dutch/);
rmSync(folder, { recursive: true });
console.log('three texts came from a file, a locked one stayed, and one was skipped after its original changed');
