import { isPlainObject, parseJson } from '@holdfast/core/internal';
import { findTextEnd, type Repair, readLenientJson, type StepBudget } from '@holdfast/prompt/json';
import { jsonLimits } from '../plan/draft.ts';
import { readPlan } from '../plan/read.ts';
import type { PlanViolation } from '../plan/types.ts';
import type { PlanReason } from '../plan/violations.ts';

/** The result of searching a text for a plan. `steps`: characters examined, including repeats. */
export type Extraction =
  /** JSON text of one object, duplicate keys included. It may still be an invalid plan. */
  | {
      readonly type: 'found';
      readonly json: string;
      readonly warnings: readonly PlanViolation[];
      readonly steps: number;
    }
  /** The text has braces but no complete object that could be the plan. */
  | { readonly type: 'malformed'; readonly violation: PlanViolation; readonly steps: number }
  /** Nothing in the text looks like JSON. */
  | { readonly type: 'none'; readonly steps: number };

/**
 * Finds the plan in a model's answer: among prose and code fences, after reasoning, and with faults that can be read in only one way.
 * Returns the first object that reads as a plan, or else the first that resembles one. Truncated objects are never completed. Linear in the
 * length of the text.
 */
export function extractPlan(text: string): Extraction {
  if (text.length > jsonLimits.maxLength) {
    const message = `The answer is ${text.length} characters long; the limit is ${jsonLimits.maxLength}.`;
    return { type: 'malformed', violation: violation('json.limit', message), steps: 0 };
  }
  const allowed = stepsPerCharacter * text.length + 10_000;
  const search = new Search(text, { left: allowed });
  search.scan();
  return search.conclude(allowed);
}

// One for the search, two for complete or broken objects, and as many again for text that only starts like an object.
const stepsPerCharacter = 16;
/** The maximum number of plan-like objects to try. */
const maxCandidates = 100;
const maxUnwrapped = 2;

interface Found {
  readonly json: string;
  readonly warnings: readonly PlanViolation[];
  readonly end: number;
}

// The marks that matter outside of objects: an object, an object in a JSON string, a reasoning tag.
const mark = /[{"<]/g;
const quotedObject = /"(?:\s|\\[nrt])*\{\s*\\/y;
const tag = /<(\/?)(think|thinking|thought|reasoning|reflection|scratchpad)>/iy;
const closingTag = /<\/(?:think|thinking|thought|reasoning|reflection|scratchpad)>/gi;
const onlyFences = /^[\s`]*$/;

/** The findings so far. */
interface Finds {
  readonly plans: Found[];
  /** An object that resembles a plan but does not read as one. */
  draft?: Found;
  object?: Found;
  broken?: string;
  hasBrace: boolean;
  /** The position of a reasoning tag that is never closed. */
  openReasoning?: number;
}

class Search {
  readonly #text: string;
  readonly #budget: StepBudget;
  readonly #unwrapped: number;
  #finds: Finds = { plans: [], hasBrace: false };
  #candidates = 0;

  constructor(text: string, budget: StepBudget, unwrapped = 0) {
    this.#text = text;
    this.#budget = budget;
    this.#unwrapped = unwrapped;
  }

  scan(): void {
    let at = 0;
    while (at < this.#text.length) {
      mark.lastIndex = at;
      const found = mark.exec(this.#text);
      this.#budget.left -= (found === null ? this.#text.length : mark.lastIndex) - at;
      if (found === null) return;
      if (this.#budget.left < 0) {
        this.#stop('it took too long to read', at);
        return;
      }
      const { 0: sign, index } = found;
      at = sign === '{' ? this.#readObject(index) : sign === '"' ? this.#readQuoted(index) : this.#readTag(index);
    }
  }

  conclude(allowed: number): Extraction {
    const steps = allowed - this.#budget.left;
    const found = this.best();
    if (found !== undefined) return { type: 'found', json: found.json, warnings: found.warnings, steps };
    const { hasBrace, openReasoning, broken = 'the answer has no complete JSON object' } = this.#finds;
    if (!hasBrace) return { type: 'none', steps };
    const reason = openReasoning === undefined ? broken : 'a reasoning block was never closed';
    const message = `Cannot read a plan: ${reason}. Answer with one JSON object and nothing else.`;
    return { type: 'malformed', violation: violation('json.invalid', message), steps };
  }

  best(): Found | undefined {
    const { plans, draft, object, broken, openReasoning } = this.#finds;
    const [first] = plans;
    if (openReasoning === undefined) return first ?? draft ?? (broken === undefined ? object : undefined);
    if (first === undefined || first.end <= openReasoning) return first;
    // The model may have forgotten the closing tag. Accept the plan only if nothing follows it.
    if (!onlyFences.test(this.#text.slice(first.end))) return undefined;
    return { ...first, warnings: [...first.warnings, repaired('the reasoning block before it was never closed')] };
  }

  /** Reads an object at an opening brace and returns the position to continue from. */
  #readObject(start: number): number {
    this.#finds.hasBrace = true;
    const reading = readLenientJson(this.#text, start, this.#budget);
    if (reading.type === 'other') return start + 1;
    if (reading.type === 'broken') {
      // Text after an object that never ends may belong to it. So may text after an object in which an unclosed quote has swallowed the end
      // of the reasoning block.
      if (reading.end === undefined || this.#hasClosingTag(start, reading.end))
        return this.#stop(`it is cut off, or ${reading.problem}`, start);
      this.#finds.broken ??= reading.problem;
      return reading.end;
    }
    const { json, keys, end } = reading;
    const found = { json, end, warnings: toWarnings(reading.repairs) };
    const meant =
      keys.length === 1 && keys[0] === 'plan' ? this.#unwrap(found) : looksLikePlan(keys) ? found : undefined;
    if (meant === undefined) this.#finds.object ??= found;
    else this.#add(meant);
    return end;
  }

  #add(found: Found): void {
    this.#candidates += 1;
    if (this.#candidates > maxCandidates) return;
    if (readPlan(found.json).type === 'invalid') this.#finds.draft ??= found;
    else this.#finds.plans.push(found);
  }

  /** The plan in an object with the single member `plan`. */
  #unwrap({ json, warnings, end }: Found): Found | undefined {
    const parsed = parseJson(json, jsonLimits);
    this.#budget.left -= json.length;
    if (!parsed.ok || !isPlainObject(parsed.value)) return undefined;
    const { plan } = parsed.value;
    const text = typeof plan === 'string' ? plan : isPlainObject(plan) ? JSON.stringify(plan) : undefined;
    const how = repaired('it was wrapped in an object with the member `plan`');
    return text === undefined ? undefined : this.#searchIn(text, { end, before: warnings, how });
  }

  /** Reads a JSON string that contains an object, the result of encoding twice. */
  #readQuoted(start: number): number {
    quotedObject.lastIndex = start;
    if (!quotedObject.test(this.#text)) return start + 1;
    this.#finds.hasBrace = true;
    const end = findTextEnd(this.#text, start);
    this.#budget.left -= (end ?? this.#text.length) - start;
    if (end === undefined) return start + 1;
    const parsed = parseJson(this.#text.slice(start, end), jsonLimits);
    const how = repaired('it was encoded twice as JSON');
    const inner =
      parsed.ok && typeof parsed.value === 'string'
        ? this.#searchIn(parsed.value, { end, before: [], how })
        : undefined;
    if (inner === undefined) return start + 1;
    this.#add(inner);
    return end;
  }

  #searchIn(
    text: string,
    { end, before, how }: { readonly end: number; readonly before: Found['warnings']; readonly how: PlanViolation },
  ): Found | undefined {
    if (this.#unwrapped >= maxUnwrapped) return undefined;
    const search = new Search(text, this.#budget, this.#unwrapped + 1);
    search.scan();
    const found = search.best();
    if (found === undefined || search.#finds.object === found) return undefined;
    return { ...found, warnings: [...before, ...found.warnings, how], end };
  }

  #readTag(start: number): number {
    tag.lastIndex = start;
    const found = tag.exec(this.#text);
    if (found === null) return start + 1;
    const end = start + found[0].length;
    if (found[1] === '/') this.#forget();
    if (found[1] === '/' || this.#finds.openReasoning !== undefined) return end;
    closingTag.lastIndex = end;
    const closed = closingTag.exec(this.#text);
    this.#budget.left -= (closed === null ? this.#text.length : closingTag.lastIndex) - end;
    if (closed !== null) return closingTag.lastIndex;
    this.#finds.openReasoning = start;
    return end;
  }

  #hasClosingTag(start: number, end: number): boolean {
    closingTag.lastIndex = 0;
    this.#budget.left -= end - start;
    return closingTag.test(this.#text.slice(start, end));
  }

  /** Stops the search at `start`. If a reasoning block ends after it, earlier findings may be part of the reasoning. */
  #stop(problem: string, start: number): number {
    closingTag.lastIndex = start;
    if (closingTag.test(this.#text)) this.#forget();
    this.#finds.hasBrace = true;
    this.#finds.broken ??= problem;
    return this.#text.length;
  }

  /** Discards all findings as reasoning. */
  #forget(): void {
    this.#finds = { plans: [], hasBrace: false };
  }
}

function looksLikePlan(keys: readonly string[]): boolean {
  return keys.includes('nodes') || (keys.includes('status') && keys.includes('error'));
}

function toWarnings(repairs: ReadonlyMap<Repair, number>): readonly PlanViolation[] {
  return [...repairs].map(([repair, count]) => repaired(`it had ${repair} (${count})`));
}

function repaired(what: string): PlanViolation {
  return violation('json.repaired', `The plan was read despite a problem: ${what}.`);
}

function violation(reason: PlanReason, message: string): PlanViolation {
  return Object.freeze({ code: 'plan.invalid', reason, path: '', message });
}
