import { allow, type Policy, type Section } from '@holdfast/core';
import type { Registry } from '@holdfast/registry';
import { type OpenedWork, openWork, type WorkOpening, type WorkPlace } from '../run/open.ts';
import { withGuard } from '../run/prompt.ts';
import { type CallSetup, setUpCalls } from '../run/setup.ts';
import type { RunTerms } from '../run/terms.ts';
import { type Equipment, listSlices } from '../settings/equipment.ts';
import type { Host } from '../terminal/host.ts';

/** What a plan is checked against and runs with. */
export interface PlanSetup extends CallSetup {
  /** What does a tool's work, by the name of the tool, as its file says. */
  readonly functions: ReadonlyMap<string, string>;
}

/** What is opened for a plan. */
export interface PlanWorkshop extends OpenedWork {
  readonly setup: PlanSetup;
}

/** Opens what plans are checked against, as `run` does it, for as long as `work` takes. @throws HoldfastError as `openWork`. */
export async function openWorkshop<Answer>(
  place: WorkPlace,
  opening: WorkOpening,
  host: Host,
  work: (workshop: PlanWorkshop) => Promise<Answer>,
): Promise<Answer> {
  return await openWork(place, opening, host, async (opened) => {
    const { equipment, workspace } = opened;
    return await work({ ...opened, setup: await setUpPlan(equipment, place, workspace, host) });
  });
}

/**
 * As `setUpCalls`, with the policies that in a run come with the prompt.
 *
 * @throws HoldfastError as `setUpCalls`.
 */
export async function setUpPlan(
  equipment: Equipment,
  terms: Pick<RunTerms, 'allow'>,
  workspace: string,
  host: Host,
): Promise<PlanSetup> {
  const setup = await setUpCalls(equipment, { allow: terms.allow, order: [] }, workspace, host);
  const { registry, toolset } = equipment;
  const files = toolset.files.flatMap((file) => (file.type === 'tool' ? [file.metadata] : []));
  return {
    ...setup,
    policies: [...setup.policies, ...sectionPolicies(registry)],
    slices: listSlices(registry),
    functions: new Map(files.map((metadata) => [metadata.name, metadata.function])),
  };
}

/**
 * The policies that the sections of plugins put in force for their tools, and the host's guard of the file tools, for calls without a
 * prompt: what a model may not do, a plan may not do either.
 */
export function sectionPolicies({ sections }: Pick<Registry, 'sections'>): readonly Policy[] {
  return sections.map(withGuard).flatMap((section) => collect(section, section.key));
}

function collect(section: Section, path: string): readonly Policy[] {
  const names = new Set(listTools(section));
  return [
    ...section.policies.map((policy) => limitTo(policy, names, path)),
    ...section.children.flatMap((child) => collect(child, `${path}.${child.key}`)),
  ];
}

function listTools({ tools, children }: Section): readonly string[] {
  return [...tools.map(({ name }) => name), ...children.flatMap(listTools)];
}

/** It still hears of every success, as in a prompt: that a file was read counts whichever tool has read it. */
function limitTo(policy: Policy, names: ReadonlySet<string>, path: string): Policy {
  return Object.freeze({
    ...policy,
    id: `${path}/${policy.id}`,
    check: (...[call, context]: Parameters<Policy['check']>) =>
      names.has(call.tool.name) ? policy.check(call, context) : allow,
  });
}
