import { type CallSetup, setUpCalls } from '../run/setup.ts';
import type { RunTerms } from '../run/terms.ts';
import type { Equipment } from '../settings/equipment.ts';
import { listSlices } from '../settings/equipment.ts';
import type { Host } from '../terminal/host.ts';
import { sectionPolicies } from './policies.ts';

/** What a plan is checked against and runs with. */
export interface PlanSetup extends CallSetup {
  /** What does a tool's work, by the name of the tool, as its file says. */
  readonly functions: ReadonlyMap<string, string>;
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
