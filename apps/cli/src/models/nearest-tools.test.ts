import type { Message, ToolDeclaration } from '@holdfast/core';
import { fileTools } from '@holdfast/filesystem';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearestTools } from './nearest-tools.ts';

const tool = (name: string, description = '', ...parameters: readonly string[]): ToolDeclaration => ({
  name,
  description,
  inputSchema: { type: 'object', properties: Object.fromEntries(parameters.map((one) => [one, { type: 'string' }])) },
});
const ask = (text: string): readonly Message[] => [
  { role: 'user', text: 'delete everything' },
  { role: 'user', text },
];
const namesOf = (tools: readonly ToolDeclaration[]): readonly string[] => tools.map(({ name }) => name);

const tools = [
  tool('get_weather', 'Looks up the weather in a city.', 'city'),
  tool('sendMail', 'Sends a mail to a person.', 'to', 'subject'),
  tool('delete_file', 'Deletes one file.', 'path'),
  tool('delete_files', 'Deletes files that match.', 'pattern'),
  tool('play', 'Starts the music of an artist.', 'artist'),
];

test.each([
  ['What is the weather like?', 'get_weather'],
  ['Mail Ann that I am late', 'sendMail'],
  ['Deleting the pattern *.log', 'delete_files'],
  ['Music by that artist, please', 'play'],
  ['Which cities are there?', 'get_weather'],
  ['', 'get_weather'],
  ['Nothing of the kind', 'get_weather'],
])('for `%s`, the nearest tool is `%s`', (text, name) => {
  expect(namesOf(nearestTools(tools, ask(text), 1))).toEqual([name]);
});

test('a few tools are all kept', () => {
  expect(nearestTools(tools, ask('weather'), 5)).toBe(tools);
});

test('called tools are kept for any request', () => {
  const messages: readonly Message[] = [
    ...ask('Send a mail about the weather'),
    { role: 'assistant', text: '', calls: [{ id: '1', name: 'play', arguments: '{}' }] },
    { role: 'tool', callId: '1', name: 'play', success: true, text: '{}' },
  ];
  expect(namesOf(nearestTools(tools, messages, 2))).toEqual(['sendMail', 'play']);
});

test.each([
  ['Read README.md', 'read_file'],
  ['Show me what is in notes/todo.txt', 'read_file'],
  ['What files are in the docs folder?', 'list_files'],
  ['Write hello to greeting.txt', 'write_file'],
  ['Create a file called plan.md with the text "Buy milk"', 'write_file'],
  ['Remove the file tmp/cache.bin', 'delete_file'],
  ['Replace "colour" with "color" in src/theme.css', 'edit_file'],
  ['Find all files that match *.md', 'glob_files'],
  ['Search for TODO in src', 'grep_files'],
])('among the file tools and ours, `%s` keeps `%s`', (text, name) => {
  const files = fileTools().map((one) => tool(one.name, one.description));
  expect(namesOf(nearestTools([...files, ...tools], ask(text), 5))).toContain(name);
});

test('finds the nearest of thousands of matching tools for a long request quickly', {
  timeout: 15_000,
}, () => {
  const many = Array.from({ length: 10_000 }, (_, index) =>
    tool(`read_${index}`, 'Reads the file and lists records of it.'),
  );
  const text = `Play this. ${Array.from({ length: 100_000 }, (_, index) => `read file records ${'x'.repeat(index % 300)}`).join(' ')}`;
  const nearest = nearestTools([...many, tool('play', 'Plays a song.')], ask(text), 5);
  expect(namesOf(nearest)).toContain('play');
});

test('returns the requested number of tools, in their order', () => {
  const words = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'read_file', '𝒜 ß ﬁle', '\n;\0'));
  const declaration = fc.tuple(words, words).map(([name, description]) => tool(name, description, name));
  fc.assert(
    fc.property(fc.array(declaration), words, fc.integer({ min: 1, max: 6 }), (given, text, most) => {
      const nearest = nearestTools(given, ask(text), most);
      expect(nearest).toHaveLength(Math.min(most, given.length));
      expect(nearest).toEqual(given.filter((one) => nearest.includes(one)));
    }),
  );
});
