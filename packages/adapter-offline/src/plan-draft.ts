import type { Json, PlannerTool } from '@holdfast/core';
import { toArguments } from './fill.ts';
import type { Parameter } from './parameters.ts';
import { type Input, writeInput } from './plan-inputs.ts';
import { type Outputs, readOutputs } from './plan-outputs.ts';
import type { OrderedClause } from './plan-reading.ts';
import { ancestorsOf, parentsOf, type Source, type Step } from './plan-step.ts';
import { titleOf } from './references.ts';
import type { Profile, Toolbox } from './toolbox.ts';

/** What is tried otherwise after a plan was refused. */
export interface Reading {
  /** Tools that a clause is not done with, by the clause's place. */
  readonly without: ReadonlyMap<number, ReadonlySet<string>>;
  /** Whatever changes something waits for what changed something before. */
  readonly isInOrder: boolean;
}

export interface NewStep {
  readonly profile: Profile;
  readonly ordered: OrderedClause;
  readonly given: ReadonlyMap<Parameter, Json>;
  readonly taken: ReadonlyMap<Parameter, Input>;
  readonly about: readonly Source[];
  readonly isHelp: boolean;
}

/** A plan that is being made, clause by clause. */
export interface Draft {
  readonly toolbox: Toolbox;
  readonly steps: readonly Step[];
  toolNamed(name: string): PlannerTool | undefined;
  outputsOf(profile: Profile): Outputs;
  isAllowed(profile: Profile): boolean;
  begin(order: OrderedClause['order'], index: number): void;
  add(step: NewStep): Step;
  /** Ends what was begun: its steps wait for what comes before them by the words of the request. */
  end(): void;
}

export function createDraft(toolbox: Toolbox, tools: ReadonlyMap<string, PlannerTool>, reading: Reading): Draft {
  const steps: Step[] = [];
  const outputs = new Map<string, Outputs>();
  let clauseIndex = 0;
  /** What every step of the clause waits for. */
  let barrier: readonly number[] = [];

  /** Two steps of which one changes what the other is about keep the order of the request. */
  const meets = (one: Pick<Step, 'profile' | 'literals' | 'isChanging'>, other: Step): boolean => {
    if (!one.isChanging && !other.isChanging) return false;
    if (reading.isInOrder && one.isChanging && other.isChanging) return true;
    return placesIn(one).some((place) => placesIn(other).includes(place));
  };

  const draft: Draft = {
    toolbox,
    steps,
    toolNamed: (name) => tools.get(name),
    outputsOf(profile) {
      const known = outputs.get(profile.tool.name);
      if (known !== undefined) return known;
      const tool = tools.get(profile.tool.name);
      const made =
        tool === undefined ? readOutputs({ ...profile.tool, effects: 'none', dangerous: false }) : readOutputs(tool);
      outputs.set(profile.tool.name, made);
      return made;
    },
    isAllowed: ({ tool }) => reading.without.get(clauseIndex)?.has(tool.name) !== true,
    begin(order, index) {
      clauseIndex = index;
      if (order === 'then') barrier = endsOf(steps);
      else if (order === 'new') barrier = [];
    },
    add({ profile, ordered, given, taken, about, isHelp }) {
      const said = [...taken].flatMap(([parameter, input]): readonly (readonly [Parameter, Json])[] =>
        input.type === 'literal' ? [[parameter, input.value]] : [],
      );
      const literals = [...given, ...said].flatMap(([{ path }, value]): readonly (readonly [string, Json])[] =>
        typeof value === 'object' ? [] : [[path.join('.'), value]],
      );
      const inputs = writeInputs(profile, given, taken);
      const isChanging = tools.get(profile.tool.name)?.effects !== 'none';
      const bare = { profile, literals, inputs, isChanging, waits: [] };
      const due = steps.filter((step) => meets(bare, step)).map(({ id }) => id);
      const inherits = parentsOf(bare).some((id) => steps[id]?.manner.onFail === 'continue');
      const { manner } = ordered;
      const step: Step = {
        ...bare,
        id: steps.length,
        clause: ordered.clause,
        clauseIndex,
        isHelp,
        label: labelOf({ profile, literals, inputs }, ordered, steps),
        outputs: draft.outputsOf(profile),
        about,
        waits: needed(due, bare, steps),
        // What goes on without a result has to be let go on by whoever takes it.
        manner: inherits && manner.onFail === 'halt' ? { ...manner, onFail: 'continue' } : manner,
      };
      steps.push(step);
      return step;
    },
    end() {
      const own = steps.filter((step) => step.clauseIndex === clauseIndex);
      const reached = new Set(own.flatMap(({ id }) => [...ancestorsOf(id, steps)]));
      // "Then count both": each count waits for what it counts. A change is over for all of them.
      const due = barrier.filter((id) => {
        const step = steps[id];
        return step !== undefined && step.clauseIndex !== clauseIndex && (!reached.has(id) || step.isChanging);
      });
      for (const step of due.length === 0 ? [] : own) {
        steps[step.id] = { ...step, waits: needed([...due, ...step.waits], { ...step, waits: [] }, steps) };
      }
    },
  };
  return draft;
}

/** Of what a step has to wait for, what nothing that it waits for already waits for. */
function needed(
  due: readonly number[],
  bare: Pick<Step, 'inputs' | 'waits'>,
  steps: readonly Step[],
): readonly number[] {
  const taken = parentsOf(bare);
  const all = [...new Set([...taken, ...due])];
  const covered = new Set(all.flatMap((id) => [...ancestorsOf(id, steps)]));
  return all.filter((id) => !covered.has(id) && !taken.includes(id)).sort((left, right) => left - right);
}

/** A step goes by the file or the thing that it is about, or by that of the step that it goes on with. */
function labelOf(
  { profile, literals, inputs }: Pick<Step, 'profile' | 'literals' | 'inputs'>,
  { clause }: OrderedClause,
  steps: readonly Step[],
): string {
  const short = literals.filter(([, value]) => typeof value === 'string' && /^.{1,100}$/u.test(value));
  const [parent] = parentsOf({ inputs, waits: [] });
  const [named] = parent === undefined ? short : short.filter(([name]) => things.test(roleNamed(name, profile) ?? ''));
  if (named !== undefined) return String(named[1]);
  return steps[parent ?? -1]?.label ?? titleOf(clause).replaceAll(/\s+/gu, ' ');
}

const things = /^(?:path|url|id)$/u;

function roleNamed(name: string, { parameters, roles }: Profile): string | undefined {
  const parameter = parameters.find(({ path }) => path.join('.') === name);
  return parameter === undefined ? undefined : roles.get(parameter);
}

/** The steps that no other waits for. */
function endsOf(steps: readonly Step[]): readonly number[] {
  const waited = new Set(steps.flatMap(parentsOf));
  return steps.map(({ id }) => id).filter((id) => !waited.has(id));
}

/** Files, addresses and other things of the world that a step is about. */
function placesIn({ profile, literals }: Pick<Step, 'profile' | 'literals'>): readonly string[] {
  return literals.flatMap(([name, value]) =>
    typeof value === 'string' && things.test(roleNamed(name, profile) ?? '') ? [value.replace(/^\.\//u, '')] : [],
  );
}

/** Inputs by their top-level names, in the order of the schema. */
function writeInputs(
  { parameters }: Profile,
  given: ReadonlyMap<Parameter, Json>,
  taken: ReadonlyMap<Parameter, Input>,
): ReadonlyMap<string, Input> {
  const inputs = new Map<string, Input>();
  for (const [name, value] of Object.entries(toArguments(given, parameters)))
    inputs.set(name, { type: 'literal', value });
  for (const [{ path }, input] of taken) {
    const [outer, inner] = path;
    if (outer === undefined) continue;
    const before = inputs.get(outer);
    const known = before?.type === 'literal' ? before.value : {};
    inputs.set(
      outer,
      inner === undefined ? input : { type: 'literal', value: { ...(known as object), [inner]: writeInput(input) } },
    );
  }
  const names = parameters.map(({ path }) => path[0]);
  return new Map([...inputs].sort(([left], [right]) => names.indexOf(left) - names.indexOf(right)));
}
