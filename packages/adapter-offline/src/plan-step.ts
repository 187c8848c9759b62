import type { Json } from '@holdfast/core';
import { isDestructive, isLooking, isStoring } from './concepts.ts';
import { type Input, stepsIn } from './plan-inputs.ts';
import type { Outputs } from './plan-outputs.ts';
import type { Manner } from './plan-reading.ts';
import type { Clause } from './reading.ts';
import type { Profile } from './toolbox.ts';

/** One call of the plan that is being made. */
export interface Step {
  /** Its place among the steps, which is its id. */
  readonly id: number;
  /** Which clause of the request it does; `isHelp`: only gets what the clause needs. */
  readonly clause: Clause;
  readonly clauseIndex: number;
  readonly isHelp: boolean;
  /** Its tool does more than look. */
  readonly isChanging: boolean;
  readonly profile: Profile;
  readonly outputs: Outputs;
  /** By top-level name. */
  readonly inputs: ReadonlyMap<string, Input>;
  /** What the request gives for it. */
  readonly literals: readonly (readonly [name: string, value: Json])[];
  /** What it is about, in the words of the request: the file that it reads, or that of the step that it goes on with. */
  readonly label: string;
  /** What it stores or sends, where it does. */
  readonly about: readonly Source[];
  /** Steps that end before it begins, beside those that it takes something from. */
  readonly waits: readonly number[];
  readonly manner: Manner;
}

/** A step whose result is spoken of; `field`: a part of it that is named. */
export interface Source {
  readonly step: Step;
  readonly field: Path | undefined;
  /** The first of a list in it is meant. */
  readonly isFirst: boolean;
}

type Path = Outputs['whole'];

/** Whether a step leaves something behind, and gives nothing that would be worked on. */
export function isStored({ profile: { actionConcepts } }: Pick<Step, 'profile'>): boolean {
  return !isLooking(actionConcepts) && (isStoring(actionConcepts) || isDestructive(actionConcepts));
}

/** Every step that has to end before this one begins, for whatever reason. */
export function parentsOf({ inputs, waits }: Pick<Step, 'inputs' | 'waits'>): readonly number[] {
  return [...new Set([...[...inputs.values()].flatMap(stepsIn), ...waits])].sort((left, right) => left - right);
}

/** The steps that begin only when `id` has ended, or that it begins after. */
export function ancestorsOf(id: number, steps: readonly Step[]): ReadonlySet<number> {
  const found = new Set<number>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const step = steps[next];
    for (const parent of step === undefined ? [] : parentsOf(step)) {
      if (found.has(parent)) continue;
      found.add(parent);
      open.push(parent);
    }
  }
  return found;
}

/** Steps whose result nothing has taken yet, and that have one worth taking. */
export function freshOf(steps: readonly Step[]): readonly Step[] {
  const taken = new Set(steps.flatMap((step) => [...step.inputs.values()].flatMap(stepsIn)));
  return steps.filter((step) => !isStored(step) && !taken.has(step.id));
}

/** Of the last clause that has any, its steps of which `isWanted` holds; none that only help others of the clause. */
export function lastOf(steps: readonly Step[], isWanted: (step: Step) => boolean): readonly Step[] {
  const last = steps.findLast((step) => !step.isHelp && isWanted(step));
  const same = steps.filter(({ clauseIndex }) => clauseIndex === last?.clauseIndex);
  const inner = new Set(same.flatMap(parentsOf));
  return same.filter((step) => !step.isHelp && isWanted(step) && (step === last || !inner.has(step.id)));
}
