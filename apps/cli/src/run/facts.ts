import { homedir } from 'node:os';
import type { Describer, FactsSource, JsonObject, Place } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { DescribedCall } from '@holdfast/core/types';
import { createFacts, type FileUse, fetchFacts, fileFacts, patchFacts, shellFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';

/** The facts source for calls in a workspace. `workspace`: its real path. */
export function createRunFacts(workspace: string): FactsSource {
  return createFacts({
    describers: [shellFacts(), createFileFacts(), patchFacts(), fetchFacts()],
    view: { folder: workspace, workspace, home: homedir(), disk: nodeDisk(workspace) },
  });
}

const edits: FileUse = { reads: ['path'], writes: ['path'] };
/** The built-in file tools. */
const own: ReadonlyMap<string, FileUse> = new Map<string, FileUse>([
  ['read_file', { reads: ['path'] }],
  ['write_file', { writes: ['path'] }],
  ['edit_file', edits],
  ['delete_file', { deletes: ['path'] }],
  ['grep_files', { searches: ['path'], only: ['glob'] }],
  // They return only names.
  ['glob_files', {}],
  ['list_files', {}],
]);

/** Facts of file tools. The built-in ones treat the workspace as the root, and also search ignored files. */
function createFileFacts(): Describer {
  const usual = fileFacts();
  const files = fileFacts({ tools: Object.fromEntries(own) });
  return {
    name: 'files',
    describe(call, view) {
      if (!own.has(call.tool)) return usual.describe(call, view);
      const facts = files.describe(inWorkspace(call), { ...view, folder: view.workspace });
      return facts && { ...facts, reads: facts.reads.map(searchAll) };
    },
  };
}

function searchAll(place: Place): Place {
  const { recursive } = place;
  if (recursive === undefined) return place;
  return { ...place, recursive: { ...recursive, skips: [], except: ['.git', 'node_modules'] } };
}

function inWorkspace({ tool, input }: DescribedCall): DescribedCall {
  if (!isPlainObject(input) || typeof input['path'] !== 'string') return { tool, input };
  return { tool, input: { ...(input as JsonObject), path: input['path'].replace(/^\/+/, './') } };
}
