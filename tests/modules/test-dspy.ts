import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineTool, type Tool } from '@holdfast/core';
import { type DspyImport, type ImportDspyOptions, importDspy } from '@holdfast/dspy';
import {
  defineSignature,
  type ModuleDefinition,
  type ModuleSource,
  memoryModules,
  type Signature,
} from '@holdfast/modules';
import { stringifyModule } from '@holdfast/modules/internal';
import * as v from 'valibot';

/** A ReAct that DSPy saved, and what a model may do with it. */
export interface SavedReact {
  readonly name: string;
  readonly text: string;
  readonly signature: Signature<{ question: string }, Readonly<Record<string, string>>>;
  readonly tools: readonly Tool[];
  /** A call, what the tool gives, and what the answer to the question is then. */
  readonly course: {
    readonly question: string;
    readonly tool: string;
    readonly args: Readonly<Record<string, string>>;
    readonly found: string;
    readonly output: Readonly<Record<string, string>>;
  };
  /** A text of a demo that is shown in each step, and of one that only the extraction can show. */
  readonly shown: string;
  readonly onlyExtracted: string;
}

function lookUpTool(name: string, key: string, found: string): Tool {
  return defineTool({
    name,
    description: 'Looks something up.',
    effects: 'none',
    inputSchema: v.object({ [key]: v.string() }),
    execute: () => found,
  });
}

function questionTo<Output extends string>(name: string, output: Output): SavedReact['signature'] {
  return defineSignature({
    name,
    inputSchema: v.object({ question: v.string() }),
    outputSchema: v.object({ [output]: v.string() }),
  });
}

/** The text of a state file of our own. */
export function readFixture(name: string): string {
  return readFileSync(new URL(`../../packages/dspy/fixtures/${name}.json`, import.meta.url), 'utf8');
}

const listRooms = defineTool({
  name: 'list_rooms',
  description: 'Lists the rooms.',
  effects: 'none',
  execute: () => [],
});

export const museumReact: SavedReact = {
  name: 'of our own',
  text: readFixture('react'),
  signature: questionTo('museum.guide', 'room'),
  tools: [lookUpTool('look_up', 'name', 'sextant: Harbour, case 2'), listRooms],
  course: {
    question: 'Where is the sextant?',
    tool: 'look_up',
    args: { name: 'sextant' },
    found: 'sextant: Harbour, case 2',
    output: { room: 'Harbour' },
  },
  shown: 'Where is the astrolabe?',
  onlyExtracted: 'Where are the coins?',
};

const sample = fileURLToPath(new URL('../../../shared/data/dspy-saved-program.json', import.meta.url));

/** A program that DSPy 3.0 really saved; it comes with the repository's sources only where these are worked on. */
export const realReact: SavedReact | undefined = existsSync(sample)
  ? {
      name: 'that DSPy saved',
      text: readFileSync(sample, 'utf8'),
      signature: questionTo('wikipedia.question', 'answer'),
      tools: [lookUpTool('search_wikipedia', 'query', '[1] «Mary Poppins | a film of Walt Disney Productions»')],
      course: {
        question: 'Which studio made Mary Poppins?',
        tool: 'search_wikipedia',
        args: { query: 'Mary Poppins studio' },
        found: '[1] «Mary Poppins | a film of Walt Disney Productions»',
        output: { answer: 'Walt Disney Productions' },
      },
      shown: 'That Darn Cat! and Never a Dull Moment were both produced by what studio?',
      onlyExtracted: 'Are Smyrnium and Nymania both types of plant?',
    }
  : undefined;

export async function importAll(
  text: string,
  options: ImportDspyOptions,
): Promise<Extract<DspyImport, { readonly type: 'imported' }>> {
  const imported = await importDspy(text, options);
  if (imported.type === 'refused') throw new Error(JSON.stringify(imported.problems, undefined, 2));
  return imported;
}

/** A folder of module files with these. */
export function filesOf(modules: readonly ModuleDefinition[]): ModuleSource {
  const listed = modules.map(({ module_id: id }) => [id, { path: `${id}.json`, hash: null, tags: ['dspy'] }]);
  return memoryModules({
    'manifest.json': JSON.stringify({ version: '1.0', modules: Object.fromEntries(listed) }),
    ...Object.fromEntries(modules.map((module) => [`${module.module_id}.json`, stringifyModule(module)])),
  });
}

/** Fields under their headers, as a model writes them. */
export function written(fields: Readonly<Record<string, string>>): { readonly text: string } {
  const parts = Object.entries(fields).map(([name, value]) => `[[ ## ${name} ## ]]\n${value}`);
  return { text: [...parts, '[[ ## completed ## ]]'].join('\n\n') };
}
