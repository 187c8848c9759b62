import { HoldfastError, isHoldfastError, isPlainObject } from '@holdfast/core';
import type { PlanViolation } from '@holdfast/orchestrator';
import * as v from 'valibot';
import type { Equipment } from '../settings/equipment.ts';
import { createColors } from '../terminal/colors.ts';
import { type ExitCode, formatFailure } from '../terminal/failure.ts';
import { describeTerminal, type Host } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { describeViolations, describeWarnings } from './view.ts';

export interface PlanProblems {
  readonly violations: readonly PlanViolation[];
  readonly warnings?: readonly PlanViolation[];
  /** What may be done about it. */
  readonly advice?: readonly string[];
}

const listed: v.GenericSchema<unknown, readonly PlanViolation[]> = v.array(
  v.object({
    code: v.string(),
    path: v.string(),
    node: v.exactOptional(v.union([v.string(), v.number()])),
    message: v.string(),
  }),
);

/** What is wrong with a plan, as an error says that is about one; `undefined` for any other. */
export function readViolations(thrown: unknown): readonly PlanViolation[] | undefined {
  if (!isHoldfastError(thrown) || thrown.code !== 'plan.invalid' || !isPlainObject(thrown.data)) return undefined;
  const parsed = v.safeParse(listed, thrown.data['violations']);
  return parsed.success ? parsed.output : undefined;
}

/** Where tools are missing, and there is no folder that they could have come from, that is the first thing to look at. */
export function adviseOnTools(
  violations: readonly PlanViolation[],
  { toolset }: Pick<Equipment, 'toolset'>,
): readonly string[] {
  const { name, path } = toolset.folder;
  if (path !== undefined || !violations.some(({ code }) => code === 'plan.tool.unknown')) return [];
  return ['', `There is no tools folder \`${toPrintable(name)}\`; \`--tools DIR\` names another.`];
}

/** Says on stderr all that keeps a plan from being run. */
export function reportViolations({ violations, warnings = [], advice = [] }: PlanProblems, host: Host): ExitCode {
  if (violations.length + warnings.length === 0) return 1;
  const { color, columns } = describeTerminal(host.stderr, host.environment);
  const style = { colors: createColors(color), columns };
  const lines = [...describeViolations(violations, style), ...describeWarnings(warnings, style), ...advice];
  for (const line of lines) host.stderr.write(`${line}\n`);
  return 1;
}

/** Says on stderr why there is no plan. */
export function reportDeclined(error: string, host: Host): ExitCode {
  const { color } = describeTerminal(host.stderr, host.environment);
  const thrown = new HoldfastError('plan.declined', `There is no plan: ${error}`);
  host.stderr.write(formatFailure(thrown, { colors: createColors(color), debug: false }));
  return 1;
}
