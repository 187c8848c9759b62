import { allow, type Policy, type Section } from '@holdfast/core';
import type { Registry } from '@holdfast/registry';
import { type OpenedWork, openWork, type WorkOpening, type WorkPlace } from '../run/open.ts';
import { withGuard } from '../run/prompt.ts';
import { type CallSetup, setUpCalls } from '../run/setup.ts';
import type { RunTerms } from '../run/terms.ts';
import { type Equipment, listSlices } from '../settings/equipment.ts';
import type { Host } from '../terminal/host.ts';

/** The setup for checking and running a plan. */
export interface PlanSetup extends CallSetup {
  /** The implementing function of each tool, by tool name, as declared in its file. */
  readonly functions: ReadonlyMap<string, string>;
}

/** The opened environment of a plan. */
export interface PlanWorkshop extends OpenedWork {
  readonly setup: PlanSetup;
}

/** Opens the environment for checking plans, as `run` does, for the duration of `work`. @throws HoldfastError as `openWork`. */
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
 * Like `setUpCalls`, with the policies that a run gets from its prompt.
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
 * The policies of plugin sections for their tools, and the guard of the file tools, for calls without a prompt, so that a plan has the
 * same restrictions as a model.
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

/** The policy still counts every success, as in a prompt: a file may be read by any tool. */
function limitTo(policy: Policy, names: ReadonlySet<string>, path: string): Policy {
  return Object.freeze({
    ...policy,
    id: `${path}/${policy.id}`,
    check: (...[call, context]: Parameters<Policy['check']>) =>
      names.has(call.tool.name) ? policy.check(call, context) : allow,
  });
}
