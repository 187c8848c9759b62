import { isContent } from './choose.ts';
import type { Filling } from './fill.ts';
import type { Parameter } from './parameters.ts';
import { composeText } from './plan-compose.ts';
import { type Input, type Taken, writeInput } from './plan-inputs.ts';
import { isApart, isTogether } from './plan-mentions.ts';
import { mainField } from './plan-outputs.ts';
import { type Picked, pickInput, type Want } from './plan-pick.ts';
import { isStored, type Source } from './plan-step.ts';
import type { Clause } from './reading.ts';
import { titleOf, titles } from './references.ts';
import type { Profile } from './toolbox.ts';
import { stemOf } from './words.ts';

/** What earlier steps give for the arguments of a tool. */
export type Assigned =
  | {
      readonly type: 'assigned';
      /** A call for each. */
      readonly rows: readonly ReadonlyMap<Parameter, Input>[];
      /** What is stored or sent. */
      readonly about: readonly Source[];
    }
  /** `why` is a clause. */
  | { readonly type: 'lacking'; readonly why: string };

export interface Assignment {
  readonly profile: Profile;
  /** Arguments without a value. */
  readonly wants: readonly Parameter[];
  readonly filling: Filling;
  readonly clause: Clause;
  /** Something in the clause has to be made use of. */
  readonly isBound: boolean;
  /** What it is about is named one by one. */
  readonly areListed: boolean;
}

/** Gives each argument that has no value one of what `sources` have. */
export function assign(assignment: Assignment, sources: readonly Source[]): Assigned {
  const { wants, isBound, profile } = assignment;
  if (wants.length === 0)
    return isBound ? assignOptional(assignment, sources) : { type: 'assigned', rows: [new Map()], about: [] };
  if (sources.length === 0) return lacking(`the request does not say ${wants.map(nameOf).join(' and ')}`);
  const content = wants.filter((parameter) => isContent(parameter, profile));
  const inner = sources.flatMap(insideOf);
  if (content.length > 0) return assignContent(content, assignment, inner);
  const [only, second] = wants;
  const of = only !== undefined && profile.roles.get(only) === 'path' ? sources : inner;
  if (only !== undefined && second === undefined) return assignOne(only, assignment, of);
  return assignSeveral(assignment, of);
}

/** Of a file that was written, its text is what was written. */
function insideOf(source: Source): readonly Source[] {
  const { step, field } = source;
  return isStored(step) && field === undefined && step.about.length > 0 ? step.about : [source];
}

function assignContent(content: readonly Parameter[], assignment: Assignment, sources: readonly Source[]): Assigned {
  const { wants, profile, filling } = assignment;
  const row = new Map<Parameter, Input>();
  for (const parameter of wants) {
    if (content.includes(parameter)) {
      const composed = composeText(wantOf(parameter, profile), sources, [...filling.given.values()]);
      if (composed.type === 'none') return lacking(composed.why);
      row.set(parameter, composed.input);
      continue;
    }
    const [first] = sources;
    if (first !== undefined && parameter.type === 'string' && parameter.nameStems.some((stem) => titles.has(stem))) {
      row.set(parameter, { type: 'literal', value: titleOf(first.step.clause) });
      continue;
    }
    const picked = pickNamed(wantOf(parameter, profile), sources);
    if (picked.type === 'none') return lacking(`the request does not say ${nameOf(parameter)}`);
    row.set(parameter, picked.input);
  }
  return { type: 'assigned', rows: [row], about: sources };
}

function assignOne(parameter: Parameter, assignment: Assignment, sources: readonly Source[]): Assigned {
  const { profile, clause } = assignment;
  const want = wantOf(parameter, profile);
  const [only, second] = sources;
  if (parameter.isList) {
    const items = sources.map((source) => pickInput(wantOf({ ...parameter, isList: false }, profile), source));
    const whole = only === undefined || second !== undefined ? undefined : pickInput(want, only);
    if (whole?.type === 'picked') return oneRow(parameter, whole.input);
    const problem = items.find((each) => each.type === 'none');
    if (problem?.type === 'none') return lacking(problem.why);
    if (items.length < 2) return lacking(`${nameOf(parameter)} is a list, and only one thing is there for it`);
    return oneRow(parameter, {
      type: 'list',
      items: items.flatMap((each) => (each.type === 'picked' ? [each.input] : [])),
    });
  }
  const isAsked = parameter.type === 'string' && parameter.nameStems.some((stem) => instructions.has(stem));
  if (isAsked) return assignInstruction(want, assignment, sources);
  const isJoined = sources.length > 1 && parameter.type === 'string' && isOfAll(assignment);
  if (isJoined) {
    const composed = composeText(want, sources, []);
    return composed.type === 'none' ? lacking(composed.why) : oneRow(parameter, composed.input);
  }
  const rows: ReadonlyMap<Parameter, Input>[] = [];
  for (const source of sources) {
    const picked = pickInput(want, source);
    if (picked.type === 'none') return lacking(picked.why);
    rows.push(new Map([[parameter, picked.input]]));
  }
  if (rows.length > 1 && isTogether(clause))
    return lacking(`it takes one ${nameOf(parameter)}, and there are ${rows.length}`);
  return { type: 'assigned', rows, about: [] };
}

const instructions: ReadonlySet<string> = new Set(
  ['prompt', 'task', 'instruction', 'instructions', 'question'].map(stemOf),
);

/** What tells a tool in words what to do gets the words of the request, and what they are about. */
function assignInstruction(want: Want, { clause }: Assignment, sources: readonly Source[]): Assigned {
  const parts: (string | Taken)[] = [`${clause.text}:`];
  for (const { step, field } of sources)
    parts.push('\n\n', { from: step.id, field: field ?? mainField(step.outputs, step.profile) ?? step.outputs.whole });
  return oneRow(want.parameter, { type: 'text', parts });
}

/** Whether a tool is to make one thing of several: it merges, or nobody has asked for each of them. */
function isOfAll({ profile: { actionConcepts }, clause, areListed }: Assignment): boolean {
  if (actionConcepts.has('merge') || isTogether(clause)) return true;
  return actionConcepts.has('summarize') && !isApart(clause) && !areListed;
}

function assignSeveral({ wants, profile }: Assignment, sources: readonly Source[]): Assigned {
  const named = wants.map((parameter) => pickNamed(wantOf(parameter, profile), sources));
  const taken = named.map((each) => (each.type === 'picked' ? JSON.stringify(writeInput(each.input)) : ''));
  if (named.every((each) => each.type === 'picked') && new Set(taken).size === taken.length) {
    return {
      type: 'assigned',
      rows: [new Map(named.map((each, index) => [wants[index] as Parameter, each.input]))],
      about: [],
    };
  }
  const [first] = wants;
  const areAlike = wants.every(({ type, isList }) => type === first?.type && !isList && !first.isList);
  if (!areAlike || sources.length !== wants.length) {
    const open = wants.filter(
      (parameter) => !sources.some((source) => pickInput(wantOf(parameter, profile), source).type === 'picked'),
    );
    return lacking(`the request does not say ${(open.length > 0 ? open : wants.slice(1)).map(nameOf).join(' and ')}`);
  }
  const row = new Map<Parameter, Input>();
  for (const [index, parameter] of wants.entries()) {
    const source = sources[index];
    const picked = source === undefined ? undefined : pickInput(wantOf(parameter, profile), source);
    if (picked?.type !== 'picked') return lacking(picked?.why ?? `nothing is there for ${nameOf(parameter)}`);
    row.set(parameter, picked.input);
  }
  return { type: 'assigned', rows: [row], about: [] };
}

/** "Count its words" where the file is an argument that may be left out: what is spoken of has to be made use of. */
function assignOptional({ profile, filling, clause }: Assignment, sources: readonly Source[]): Assigned {
  const free = profile.parameters.filter(
    (parameter) => !filling.given.has(parameter) && parameter.type === 'string' && !parameter.isList,
  );
  const [source] = sources;
  const rated = free.flatMap((parameter) => {
    const rows = sources.map((each) => pickInput(wantOf(parameter, profile), each));
    const isSure = rows.every((row) => row.type === 'picked' && row.isNamed);
    return isSure ? [{ parameter, rows: rows.flatMap((row) => (row.type === 'picked' ? [row.input] : [])) }] : [];
  });
  const [best, second] = rated;
  if (source === undefined || best === undefined || second !== undefined)
    return lacking(`takes nothing of what "${clause.text.slice(0, 100)}" speaks of`);
  return { type: 'assigned', rows: best.rows.map((input) => new Map([[best.parameter, input]])), about: [] };
}

/** What is surely meant, in one of the sources alone. */
function pickNamed(want: Want, sources: readonly Source[]): Picked {
  const found = sources
    .map((source) => pickInput(want, source))
    .filter((each) => each.type === 'picked' && each.isNamed);
  const [only, second] = found;
  return only === undefined || second !== undefined ? { type: 'none', why: '' } : only;
}

function wantOf(parameter: Parameter, profile: Profile): Want {
  return { parameter, role: profile.roles.get(parameter) ?? roleLike(parameter, profile), profile };
}

/** Of one item of a list: that of the list. */
function roleLike(parameter: Parameter, profile: Profile): Want['role'] {
  for (const [other, role] of profile.roles) if (other.path.join('.') === parameter.path.join('.')) return role;
  return 'neutral';
}

function oneRow(parameter: Parameter, input: Input): Assigned {
  return { type: 'assigned', rows: [new Map([[parameter, input]])], about: [] };
}

function nameOf({ path }: Parameter): string {
  return `\`${path.join('.')}\``;
}

function lacking(why: string): Assigned {
  return { type: 'lacking', why };
}
