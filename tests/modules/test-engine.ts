import type { Model, ModelEvent } from '@holdfast/core';
import {
  createModuleEngine,
  defineSignature,
  type ModuleEngine,
  type ModuleEngineOptions,
  type ModuleEvent,
  type ModuleSource,
  memoryModules,
  type Signature,
} from '@holdfast/modules';
import { type ManualClock, manualClock } from '@holdfast/testing';
import * as v from 'valibot';

export const question: Signature<{ question: string }, { answer: string }> = defineSignature({
  name: 'question',
  inputSchema: v.object({ question: v.string() }),
  outputSchema: v.object({ answer: v.string() }),
});

/** A module file. Its instruction is its version, which `versionModel` answers with. */
export function moduleText(moduleId: string, version: string | number, more: object = {}): string {
  return JSON.stringify({
    module_id: moduleId,
    predictor_type: 'predict',
    signature_name: 'question',
    instruction: `Version ${version}.`,
    demos: [],
    tool_enabled: false,
    metadata: { version: '1.0.0' },
    ...more,
  });
}

export interface TestEntry {
  /** Default: the id, and `.json`. */
  readonly path?: string;
  readonly hash?: string | null;
  readonly tags?: readonly string[];
}

export function manifestText(modules: readonly string[] | Readonly<Record<string, TestEntry>>): string {
  const entries: readonly (readonly [string, TestEntry])[] = isList(modules)
    ? modules.map((id) => [id, {}])
    : Object.entries(modules);
  const written = entries.map(([id, { path = `${id}.json`, hash = null, tags = [] }]) => [id, { path, hash, tags }]);
  return JSON.stringify({ version: '1.0', modules: Object.fromEntries(written) });
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

/** Files of modules that are all of version `version`, and their manifest. */
export function moduleFiles(ids: readonly string[], version: string | number = 1): Record<string, string> {
  const files = ids.map((id) => [`${id}.json`, moduleText(id, version)] as const);
  return { ...Object.fromEntries(files), 'manifest.json': manifestText(ids) };
}

/** Answers with the version of the module that it is asked by; after `wait`, if there is one. */
export function versionModel(wait?: () => Promise<void>): Model {
  return {
    id: 'test:version',
    async *stream({ messages }): AsyncGenerator<ModelEvent> {
      await wait?.();
      const [first] = messages;
      const version = first?.role === 'system' ? /Version (\S+)\.\s*$/m.exec(first.text)?.[1] : undefined;
      yield { type: 'text-delta', text: `[[ ## answer ## ]]\n${version}\n\n[[ ## completed ## ]]` };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 5 } };
    },
  };
}

export interface TestEngine {
  readonly engine: ModuleEngine;
  readonly source: ReturnType<typeof memoryModules>;
  readonly clock: ManualClock;
  /** Which version answers. */
  ask(moduleId: string): Promise<string>;
}

export async function startEngine(
  files: Readonly<Record<string, string>>,
  options: Partial<ModuleEngineOptions> = {},
): Promise<TestEngine> {
  const source = memoryModules({ ...files });
  const clock = manualClock();
  const engine = await createModuleEngine({ source, signatures: [question], model: versionModel(), clock, ...options });
  return { engine, source, clock, ask: (moduleId) => askVersion(engine, moduleId) };
}

export async function askVersion(engine: ModuleEngine, moduleId: string): Promise<string> {
  const { output } = await engine.invoke(moduleId, { question: 'which?' }, { signature: question });
  return output.answer;
}

/** What each event is about, on a line. */
export function describeEvent(event: ModuleEvent): string {
  switch (event.type) {
    case 'manifest-failed':
      return `${event.type} ${event.diagnostics.map(({ code }) => code).join()}`;
    case 'module-failed':
      return `${event.type} ${event.moduleId} ${event.diagnostics.map(({ code }) => code).join()}${event.isKept ? ' (kept)' : ''}`;
    default:
      return `${event.type} ${event.moduleId}`;
  }
}

/** A source whose reads wait until they are let through, one after the other. */
export function heldSource(source: ModuleSource): ModuleSource & {
  readonly reads: readonly string[];
  /** Resolves when so many files were asked for. */
  reached(reads: number): Promise<void>;
  hold(): void;
  release(): void;
} {
  const reads: string[] = [];
  let waiting: (() => void)[] = [];
  let isHeld = false;
  return {
    name: source.name,
    reads,
    async read(path) {
      reads.push(path);
      if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
      return source.read(path);
    },
    watch: (changed) => source.watch?.(changed) ?? Promise.reject(new Error('Not watched.')),
    async reached(count) {
      while (reads.length < count) await Promise.resolve();
    },
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      const due = waiting;
      waiting = [];
      for (const resolve of due) resolve();
    },
  };
}
