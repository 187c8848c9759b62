import { HoldfastError, isPlainObject, type JsonObject } from '@holdfast/core';
import { type ManifestEntry, manifestPath, parseManifest } from './manifest.ts';
import { type ModuleProblem, refusal } from './module-problem.ts';
import { parseText } from './parse-text.ts';
import { readContained } from './read-contained.ts';

/** A manifest as somebody wrote it: what is not understood stays when a module is listed in it. */
export interface ManifestFile {
  readonly content: JsonObject;
  readonly entries: ReadonlyMap<string, ManifestEntry>;
}

/** An empty one where there is none. @throws HoldfastError `modules.manifest_invalid`, and as `readContained`. */
export async function readManifestFile(root: string): Promise<ManifestFile> {
  const file = await readContained(root, manifestPath);
  return toManifestFile(file?.text ?? '{ "version": "1.0", "modules": {} }');
}

function toManifestFile(text: string): ManifestFile {
  const parsing = parseManifest(text);
  if (parsing.type === 'invalid') throw refuseManifest(parsing.problems);
  const parsed = parseText(text, 'modules.manifest_invalid');
  // It has just been read.
  const content = (parsed.type === 'parsed' ? parsed.value : {}) as JsonObject;
  return { content, entries: parsing.entries };
}

export interface ListedModule {
  readonly moduleId: string;
  readonly hash: string;
  /** Default: those of the entry that is there. */
  readonly tags: readonly string[] | undefined;
}

/**
 * The text of a manifest that lists the module, too, and where its file lies.
 *
 * @throws HoldfastError `modules.manifest_invalid` (tags that are none), `modules.id_twin`.
 */
export function listModule(
  { content, entries }: ManifestFile,
  { moduleId, hash, tags }: ListedModule,
): { readonly text: string; readonly path: string } {
  const modules = isPlainObject(content['modules']) ? content['modules'] : {};
  const listed = entries.get(moduleId);
  const path = listed?.path ?? findFreePath(moduleId, entries);
  const entry = { path, hash, tags: tags ?? listed?.tags ?? [] };
  const text = `${JSON.stringify({ ...content, modules: { ...modules, [moduleId]: entry } }, undefined, 2)}\n`;
  const parsing = parseManifest(text);
  if (parsing.type === 'manifest' && parsing.entries.has(moduleId)) return { text, path };
  const [problem] = parsing.problems.filter((one) => one.moduleId === moduleId);
  if (problem?.code === 'modules.id_twin') throw new HoldfastError(problem.code, problem.message);
  throw refuseManifest(parsing.problems);
}

/** Disks may take names for equal that differ by case. */
function findFreePath(moduleId: string, entries: ReadonlyMap<string, ManifestEntry>): string {
  const taken = new Set([manifestPath, ...[...entries.values()].map(({ path }) => path.toLowerCase())]);
  let path = `${moduleId}.json`;
  for (let number = 2; taken.has(path.toLowerCase()); number += 1) path = `${moduleId}.${number}.json`;
  return path;
}

function refuseManifest(problems: readonly ModuleProblem[]): HoldfastError {
  return refusal('modules.manifest_invalid', 'Nothing was saved, because of the manifest', problems);
}
