import { HoldfastError, type Pack } from '@holdfast/core';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { packPolicies } from '@holdfast/policy';
import { readLog } from '@holdfast/session/jsonl';
import { type ComparedCall, comparePolicies, type Verdict } from '@holdfast/testing/recorded';
import { formatArguments } from '../calls/line.ts';
import type { IndexedLog } from './call-index.ts';

/** A pack and two of its presets. */
export interface Sides {
  readonly pack: string;
  readonly from: string;
  readonly to: string;
}

/** A call on which the sides disagree. JSON. */
export interface DifferentCall {
  /** -1: the list does not have it. */
  readonly key: number;
  readonly callId: string;
  readonly name: string;
  readonly change: ComparedCall['change'];
  readonly before: string;
  readonly after: string;
  readonly reasons: readonly string[];
  readonly line: string;
}

export interface Comparison {
  readonly counts: Readonly<Record<ComparedCall['change'], number>>;
  readonly calls: readonly DifferentCall[];
}

const maxDifferent = 500;

/** The packs that the program brings. A page must not make it load others. */
async function ownPacks(): Promise<readonly Pack[]> {
  const { filesystemGuard } = await import('@holdfast/pack-filesystem');
  const { releaseOrder } = await import('@holdfast/pack-release');
  const { shellGuard } = await import('@holdfast/pack-shell');
  return [filesystemGuard, releaseOrder, shellGuard];
}

/** The packs and presets that can be compared. */
export async function listPacks(): Promise<readonly { readonly name: string; readonly presets: readonly string[] }[]> {
  return (await ownPacks()).map(({ name, presets }) => ({ name, presets: Object.keys(presets) }));
}

/**
 * The calls of a session that one preset would have decided otherwise than another one, as `holdfast policy diff` finds them.
 *
 * @throws HoldfastError `command.failed`, `policy.*`.
 */
export async function compareSession({ path, workspace, calls }: IndexedLog, sides: Sides): Promise<Comparison> {
  const pack = (await ownPacks()).find(({ name }) => name === sides.pack);
  const missing = [sides.from, sides.to].find((name) => pack === undefined || !Object.hasOwn(pack.presets, name));
  if (pack === undefined || missing !== undefined) {
    throw new HoldfastError(
      'command.failed',
      `Unknown preset \`${missing}\` of pack \`${sides.pack}\`: reload the page.`,
      { data: { reason: 'studio.unknown' } },
    );
  }
  const compared = await comparePolicies(readLog(path).records, {
    before: packPolicies(pack, { preset: sides.from }),
    after: packPolicies(pack, { preset: sides.to }),
    tools: fileTools(),
    filesystem: memoryFilesystem().readOnly,
    workspace,
  });
  const counts = { same: 0, tightened: 0, widened: 0, reason: 0, unknown: 0 };
  for (const { change } of compared) counts[change] += 1;
  const keys = new Map(calls.map(({ child, callId, key }) => [`${child}\n${callId}`, key]));
  const different = compared.filter(({ change }) => change !== 'same').slice(0, maxDifferent);
  return {
    counts,
    calls: different.map((call) => describe(call, keys.get(`${call.sessionId ?? ''}\n${call.callId}`) ?? -1)),
  };
}

function describe({ callId, tool, input, change, before, after }: ComparedCall, key: number): DifferentCall {
  const reasons = [...new Set([...reasonsOf(before), ...reasonsOf(after)])];
  const line = formatArguments(JSON.stringify(input));
  return { key, callId, name: tool, change, before: before.type, after: after.type, reasons, line };
}

function reasonsOf({ judgements }: Verdict): readonly string[] {
  return judgements.flatMap(({ reason }) => (reason === undefined ? [] : [reason]));
}
