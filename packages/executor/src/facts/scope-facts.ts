import type { CallFacts, FactsSource, Json, PlaceView, PreparedCall } from '@holdfast/core';
import { checkOptions, toCanonicalJson } from '@holdfast/core/internal';
import type { RecordedFacts } from '@holdfast/core/types';
import type { Session } from '@holdfast/session';
import type { ScopeFacts } from '../call/prepare.ts';
import { type CallRecord, RunningCall } from '../call/running-call.ts';
import { DescribedCall } from './described-call.ts';
import { toRecordedFacts } from './recorded.ts';
import { noteWritten, viewWithWritten } from './written.ts';

/** `session`: the outermost one. @throws HoldfastError `options.invalid`. */
export function openFacts(source: FactsSource, session: Session): ScopeFacts {
  checkOptions('facts', source, { describe: 'function!', view: 'object!' }, { strays: 'misspelled' });
  checkOptions('view', source.view, { folder: 'text!', workspace: 'text!' }, { strays: 'misspelled' });
  return new OpenFacts(source, session);
}

class OpenFacts implements ScopeFacts {
  readonly place: PlaceView;
  readonly #source: FactsSource;
  readonly #session: Session;

  constructor(source: FactsSource, session: Session) {
    this.place = viewWithWritten(source.view, session);
    this.#source = source;
    this.#session = session;
  }

  attach(call: PreparedCall): PreparedCall {
    return new DescribedCall(call, this.#source, this.place);
  }

  madeOf(call: PreparedCall): CallFacts | undefined {
    return DescribedCall.madeOf(call);
  }

  renew(call: PreparedCall): boolean {
    const before = DescribedCall.forget(call);
    return before !== undefined && !isSame(before, call.facts);
  }

  begin(call: PreparedCall): void {
    // A tool that only reads writes nothing, unless a describer says otherwise.
    const facts = call.tool.effects === 'none' ? this.madeOf(call) : call.facts;
    if (facts !== undefined) noteWritten(facts.writes, this.#session);
  }

  recorded(call: CallRecord): RecordedFacts | undefined {
    const facts = call instanceof RunningCall ? this.madeOf(call.call) : undefined;
    return facts && toRecordedFacts(facts);
  }
}

function isSame(one: CallFacts, other: CallFacts | undefined): boolean {
  // JSON by construction; TypeScript cannot see that of an interface.
  const [before, after] = [one, other] as unknown as readonly [Json, Json | undefined];
  return after !== undefined && toCanonicalJson(before) === toCanonicalJson(after);
}
