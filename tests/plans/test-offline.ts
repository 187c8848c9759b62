import { defineTool, type Json, type JsonObject, type Tool } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';

interface Shape {
  readonly [name: string]: JsonObject;
}

const text: JsonObject = { type: 'string' };
const number: JsonObject = { type: 'number' };

function schema(properties: Shape, optional: readonly string[] = []): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

interface ToolOptions {
  readonly takes: JsonObject;
  readonly gives?: JsonObject;
  readonly effects?: Tool['effects'];
  readonly dangerous?: boolean;
  readonly locks?: readonly string[];
  readonly execute?: (input: JsonObject) => Json;
}

function tool(name: string, description: string, options: ToolOptions): Tool {
  const { takes, gives, effects = 'none', dangerous = false, locks, execute = () => ({}) } = options;
  return defineTool<JsonObject, Json>({
    name,
    description,
    effects,
    dangerous,
    inputSchema: jsonSchema<JsonObject>(takes),
    ...(gives === undefined ? {} : { outputSchema: jsonSchema<Json>(gives) }),
    ...(locks === undefined ? {} : { locks: () => locks }),
    execute: (input) => execute(input) as never,
  });
}

/** Tools of several trades, with schemas of what they take and, most of them, of what they give. */
export const offlineTools: readonly Tool[] = [
  tool('read_file', 'Read a text file.', {
    takes: schema({ path: { type: 'string', minLength: 1 } }),
    gives: schema({ path: text, text }),
    execute: ({ path }) => ({ path: path ?? '', text: `Text of ${String(path)}` }),
  }),
  tool('write_file', 'Write a text file.', {
    takes: schema({ path: text, content: text }),
    gives: schema({ bytes: { type: 'integer' } }),
    effects: 'state',
    execute: ({ content }) => ({ bytes: String(content).length }),
  }),
  tool('delete_file', 'Delete a file.', { takes: schema({ path: text }), effects: 'state', dangerous: true }),
  tool('count_words', 'Count the words of a text.', {
    takes: schema({ text: { type: 'string', maxLength: 100_000 } }),
    gives: schema({ words: { type: 'integer' }, lines: { type: 'integer' } }),
    execute: ({ text: given }) => ({ words: String(given).split(' ').length, lines: 1 }),
  }),
  tool('summarize_text', 'Summarize a text.', {
    takes: schema({ text, sentences: { type: 'integer', minimum: 1, maximum: 9 } }, ['sentences']),
    gives: schema({ summary: text }),
    execute: () => ({ summary: 'In short.' }),
  }),
  tool('translate_text', 'Translate a text into another language.', {
    takes: schema({ text, language: { enum: ['German', 'French'] } }),
    gives: schema({ text, language: text }),
    execute: ({ language }) => ({ text: 'Übersetzt', language: language ?? '' }),
  }),
  tool('compare_texts', 'Compare two texts.', {
    takes: schema({ first: text, second: text }),
    gives: schema({ report: text, similarity: number }),
    execute: ({ first, second }) => ({ report: `${String(first)} | ${String(second)}`, similarity: 1 }),
  }),
  tool('merge_texts', 'Merge several texts into one.', {
    takes: schema({ texts: { type: 'array', items: text, minItems: 2 } }),
    gives: schema({ text }),
    execute: ({ texts }) => ({ text: (texts as readonly string[]).join('\n') }),
  }),
  tool('fetch_url', 'Fetch a web page.', {
    takes: schema({ url: { type: 'string', format: 'uri' } }),
    gives: schema({ url: text, status: { type: 'integer' }, text }),
    execute: ({ url }) => ({ url: url ?? '', status: 200, text: `Page ${String(url)}` }),
  }),
  tool('search_web', 'Search the web.', {
    takes: schema({ query: text, limit: { type: 'integer', minimum: 1, maximum: 20 } }, ['limit']),
    gives: schema({ results: { type: 'array', items: schema({ title: text, url: text }) } }),
    execute: () => ({ results: [{ title: 'One', url: 'https://example.org/one' }] }),
  }),
  tool('calculate', 'Evaluate an arithmetic expression.', {
    takes: schema({ expression: { type: 'string', pattern: '^[0-9+*/(). -]+$' } }),
    gives: schema({ result: number }),
    execute: () => ({ result: 42 }),
  }),
  tool('convert_currency', 'Convert an amount of money from one currency to another.', {
    takes: schema({
      amount: { type: 'number', minimum: 0 },
      from: { enum: ['USD', 'EUR'] },
      to: { enum: ['USD', 'EUR'] },
    }),
    gives: schema({ amount: number, currency: text }),
    execute: ({ to }) => ({ amount: 1, currency: to ?? '' }),
  }),
  tool('create_event', 'Create a calendar event.', {
    takes: schema({ title: { type: 'string', maxLength: 40 }, date: { type: 'string', format: 'date' } }),
    gives: schema({ id: text, link: text }),
    effects: 'external',
    locks: ['calendar'],
    execute: ({ title }) => ({ id: 'ev_1', link: `https://example.org/${String(title)}` }),
  }),
  tool('send_mail', 'Send an e-mail.', {
    takes: schema({ to: { type: 'string', format: 'email' }, subject: text, body: text }),
    gives: schema({ id: text }),
    effects: 'external',
    execute: () => ({ id: 'm_1' }),
  }),
  tool('set_timer', 'Start a kitchen timer.', {
    takes: schema({ minutes: { type: 'integer', minimum: 1, maximum: 60 } }),
    effects: 'external',
  }),
  tool('load_page', 'Load a wiki page.', { takes: schema({ title: text }), execute: () => 'A page' }),
  tool('shorten', 'Shorten a text.', { takes: schema({ text }), execute: () => 'Short' }),
];
