import { readFile } from 'node:fs/promises';
import type { Pack } from '@holdfast/core';
import { approvals } from '@holdfast/pack-approvals';
import { budgets } from '@holdfast/pack-budgets';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { networkEgress } from '@holdfast/pack-network';
import { provenance } from '@holdfast/pack-provenance';
import { releaseOrder } from '@holdfast/pack-release';
import { shellGuard } from '@holdfast/pack-shell';
import { type ConformanceCheck, type PackCases, type PackTesterOptions, packTester } from '@holdfast/testing';
import { cases as approvalsCases } from './packs/approvals-cases.ts';
import { cases as budgetsCases } from './packs/budgets-cases.ts';
import { cases as filesystemCases } from './packs/filesystem-cases.ts';
import { cases as networkCases } from './packs/network-cases.ts';
import { cases as provenanceCases } from './packs/provenance-cases.ts';
import { cases as releaseCases } from './packs/release-cases.ts';
import { cases as shellCases } from './packs/shell-cases.ts';

interface PackSuite {
  /** Of its folder, behind `pack-`. */
  readonly name: string;
  readonly pack: Pack;
  readonly cases: PackCases;
}

/** The packs of our own, each with its cases. */
export const packs: readonly PackSuite[] = [
  { name: 'approvals', pack: approvals, cases: approvalsCases },
  { name: 'budgets', pack: budgets, cases: budgetsCases },
  { name: 'filesystem', pack: filesystemGuard, cases: filesystemCases },
  { name: 'network', pack: networkEgress, cases: networkCases },
  { name: 'provenance', pack: provenance, cases: provenanceCases },
  { name: 'release', pack: releaseOrder, cases: releaseCases },
  { name: 'shell', pack: shellGuard, cases: shellCases },
];

/** The checks of every pack of our own. */
export async function listPackChecks(runs: number): Promise<readonly (ConformanceCheck & { readonly pack: string })[]> {
  const lists = packs.map(async ({ name, pack, cases }) => {
    const path = new URL(`../../packages/pack-${name}/package.json`, import.meta.url);
    const manifest = JSON.parse(await readFile(path, 'utf8')) as NonNullable<PackTesterOptions['manifest']>;
    return packTester(pack, cases, { manifest, runs }).map((check) => ({ pack: name, ...check }));
  });
  return (await Promise.all(lists)).flat();
}
