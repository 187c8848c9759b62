import { describeThrown } from '@holdfast/core';
import { describeFound, type FoundModel, findModels } from '../models/found.ts';
import type { OfferedProvider } from '../models/provider-keys.ts';
import type { Host } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { readModelAnswers } from '../user/config.ts';

/** What a run at a terminal could ask where it names no model. */
export interface ModelsState {
  readonly found: readonly (FoundModel & {
    /** Of the user, kept in the user's own folder; `null`: none yet. */
    readonly answer: boolean | null;
  })[];
  /** Why nobody knows the answers; empty when they are known. */
  readonly reason: string;
}

export async function examineModels(host: Host): Promise<ModelsState> {
  const found = await findModels(host);
  const toState = (answers: ReadonlyMap<OfferedProvider, boolean>): ModelsState['found'] =>
    found.map((one) => ({ ...one, answer: answers.get(one.provider) ?? null }));
  try {
    return { found: toState(await readModelAnswers(host)), reason: '' };
  } catch (thrown) {
    return { found: toState(new Map()), reason: describeThrown(thrown) };
  }
}

export function describeModels({ found, reason }: ModelsState): readonly (readonly [label: string, text: string])[] {
  const used = found.find(({ answer, version }) => answer === true && version !== null);
  const lines = found.map((one) => {
    const answer = one.answer === false ? '; you said no to it' : one === used ? '; runs at a terminal use it' : '';
    return toPrintable(`${describeFound(one)}${answer}`);
  });
  const rest =
    reason !== ''
      ? toPrintable(reason)
      : found.length === 0
        ? 'neither a key nor an Ollama on this machine was found: without --model, the offline stand-in answers'
        : found.some(({ answer }) => answer === null) && used === undefined
          ? 'a run at a terminal without --model asks whether to use one; elsewhere the offline stand-in answers'
          : undefined;
  return [...lines, ...(rest === undefined ? [] : [rest])].map((text, index) => [index === 0 ? 'models' : '', text]);
}
