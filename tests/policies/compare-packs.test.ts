import { defineTool, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { packPolicies } from '@holdfast/policy';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, memoryStore } from '@holdfast/session';
import type { PresetCases } from '@holdfast/testing';
import { comparePolicies } from '@holdfast/testing/recorded';
import { expect, test } from 'vitest';
import { listEnds } from '../logs/random-sessions.ts';
import { packs } from './pack-suites.ts';

const suites = packs.flatMap(({ name, pack, cases: { presets, configs = [] } }) => [
  ...Object.entries(presets).map(([preset, cases]) => ({ name, pack, preset, config: {}, title: preset, cases })),
  ...configs.map(({ title, preset = 'recommended', config, ...cases }) => ({
    name,
    pack,
    preset,
    config,
    title,
    cases,
  })),
]);

/** The tools of the cases; where there are none, one for each name that takes any arguments. */
function toolsOf({ tools, cases }: PresetCases): readonly Tool[] {
  if (tools !== undefined) return tools;
  const names = new Set(
    cases.flatMap(({ after = [], call }) => [...after, call]).flatMap((step) => ('tool' in step ? [step.tool] : [])),
  );
  return [...names].map((name) =>
    defineTool({
      name,
      description: `Stands in for ${name}.`,
      inputSchema: jsonSchema({ type: 'object', additionalProperties: true }),
      effects: 'state',
      execute: () => null,
    }),
  );
}

test.each(suites)(
  'what $name ($title) said is found in the log again, or unknown',
  async ({ name, pack, preset, config, cases }) => {
    const found = { known: 0, unknown: 0 };
    for (const { after = [], call } of cases.cases) {
      const store = memoryStore();
      const session = createSession({ store });
      const tools = toolsOf(cases);
      const known = new Set(tools.map(({ name }) => name));
      // Names of tools that the cases lack are not an error here.
      const policies = packPolicies(pack, { preset, config }).map((policy) => ({
        ...policy,
        mentions: policy.mentions.filter((name) => known.has(name)),
      }));
      const resources = cases.resources?.() ?? {};
      const facts = cases.facts === undefined ? {} : { facts: cases.facts };
      const options = { tools, session, policies, resources, ...facts, approve: () => ({ type: 'approve' as const }) };
      for (const step of [...after, call]) {
        if ('tool' in step) await executeToolCall({ name: step.tool, arguments: step.input ?? {} }, options);
      }
      const compared = await comparePolicies(store.records, {
        before: policies,
        after: policies,
        tools,
        filesystem: memoryFilesystem().readOnly,
        workspace: '/w',
      });
      const ends = new Map(listEnds(store.records).map((end) => [end.seq, end]));
      for (const { seq, tool, before, change } of compared) {
        expect(['same', 'unknown']).toContain(change);
        const decisions = (ends.get(seq)?.['decisions'] ?? []) as readonly {
          readonly type: string;
          readonly reason?: string;
        }[];
        for (const [index, { type, policy }] of before.judgements.entries()) {
          found[type === 'unknown' ? 'unknown' : 'known'] += 1;
          if (type === 'unknown') continue;
          const said = decisions[index];
          expect(`${tool}, ${policy}: ${said?.reason === 'Approved.' ? 'ask' : said?.type}`).toBe(
            `${tool}, ${policy}: ${type}`,
          );
        }
      }
    }
    // Not everything depends on what a log does not have, but for a pack that reads the request: these calls are in no run.
    if (name !== 'provenance') expect(found.known).toBeGreaterThan(found.unknown);
  },
);
