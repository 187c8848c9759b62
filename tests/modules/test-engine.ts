import type { Model, ModelEvent } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
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

/** The subject of each event, one a line. */
export function describeEvent(event: ModuleEvent): string {
  switch (event.type) {
    case 'manifest-failed':
      return `${event.type} ${event.diagnostics.map(describeCode).join()}`;
    case 'module-failed':
      return `${event.type} ${event.moduleId} ${event.diagnostics.map(describeCode).join()}${event.isKept ? ' (kept)' : ''}`;
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
