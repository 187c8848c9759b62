import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { advise, instruction } from './advice.ts';

export const manifestPath = 'manifest.json';

export const idOf = (index: number): string => `bench.advice.${index}`;
export const pathOf = (index: number): string => `npc/advice-${String(index).padStart(4, '0')}.json`;

/** A manifest and `count` module files of 1.6 kB, by path, as tuners write them: an instruction and four demos. */
export function writeModules(count: number): Readonly<Record<string, string>> {
  const modules = Array.from({ length: count }, (_, index) => [pathOf(index), writeModule(index)] as const);
  return { [manifestPath]: writeManifest(modules.map(([, text]) => text)), ...Object.fromEntries(modules) };
}

/** One of them; `version` makes it another text. */
export function writeModule(index: number, version = 1): string {
  const demos = Array.from({ length: 4 }, (_, demo) => ({
    inputs: { question: `Is it cold in town ${index}, in month ${demo}?` },
    outputs: { advice: `In month ${demo}, take ${demo} pullovers to town ${index}.`, jacket: demo % 2 === 0 },
  }));
  const definition = {
    module_id: idOf(index),
    predictor_type: 'predict',
    signature_name: advise.name,
    signature: {
      inputs: [{ name: 'question', description: 'What the traveller asks', field_type: 'string' }],
      outputs: [
        { name: 'advice', description: 'What to tell the traveller', field_type: 'string' },
        { name: 'jacket', description: 'Whether a jacket is needed', field_type: 'boolean' },
      ],
    },
    instruction: `${instruction} You know town ${index} well.`,
    demos,
    tool_enabled: true,
    metadata: { version: `${version}.0.0`, score: 0.87 },
  };
  return `${JSON.stringify(definition, null, 2)}\n`;
}

function writeManifest(texts: readonly string[]): string {
  const entries = texts.map((text, index) => {
    const hash = `sha256:${createHash('sha256').update(text).digest('hex')}`;
    return [idOf(index), { path: pathOf(index), hash: isFree(index) ? null : hash, tags: ['npc'] }] as const;
  });
  return `${JSON.stringify({ version: '1.0', modules: Object.fromEntries(entries) }, null, 2)}\n`;
}

/** The first module may change without the manifest: the one that is reloaded. */
function isFree(index: number): boolean {
  return index === 0;
}

/** Those files in a folder, removed at the end of the block. */
export interface ModuleFolder extends Disposable {
  readonly root: string;
}

export function createModuleFolder(files: Readonly<Record<string, string>>): ModuleFolder {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-bench-')));
  mkdirSync(join(root, 'npc'));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}
