/** The answers of the program. Every text has its hidden characters shown already; none of it is markup. */

export type Tone = 'ok' | 'bad' | 'doubt' | 'skipped' | 'open';

export interface Question {
  readonly nonce: string;
  readonly session: string;
  readonly workspace: string;
  readonly log: string;
  readonly callId: string;
  readonly name: string;
  readonly dangerous: boolean;
  readonly grantable: boolean;
  readonly request?: string;
  readonly model?: string;
  readonly asks: readonly { readonly policy: string; readonly reason: string }[];
  readonly facts: readonly string[];
  readonly arguments: readonly string[];
  readonly changes: readonly { readonly title: string; readonly diff: readonly string[] }[];
  readonly note?: string;
  readonly digest: string;
  readonly askedAtMs: number;
  readonly expiresAtMs: number;
}

export interface InboxAnswer {
  readonly questions: readonly Question[];
  readonly problems: readonly string[];
}

export interface Call {
  readonly key: number;
  readonly session: string;
  readonly ref: string;
  readonly callId: string;
  readonly name: string;
  readonly state: string;
  readonly tone: Tone;
  readonly decided: string;
  readonly question: string;
  readonly message: string;
  readonly durationMs?: number;
  readonly atMs: number;
  readonly line: string;
}

export interface CallsAnswer {
  readonly version: number;
  readonly total: number;
  readonly offset: number;
  readonly calls: readonly Call[];
}

export interface Facet {
  readonly value: string;
  readonly times: number;
}

export interface Facets {
  readonly tools: readonly Facet[];
  readonly outcomes: readonly Facet[];
  readonly decisions: readonly Facet[];
  readonly sessions: readonly {
    readonly ref: string;
    readonly id: string;
    readonly calls: number;
    readonly workspace: string;
  }[];
}

export interface Use {
  readonly callId: string;
  readonly name: string;
  readonly state: string;
  readonly entries: readonly (readonly [label: string, texts: readonly string[]])[];
  readonly nested: readonly Use[];
}

export interface CallAnswer extends Call {
  readonly uses: readonly Use[];
  readonly integrity: string;
}

interface Span {
  readonly x: number;
  readonly width: number;
}

export interface Timeline {
  readonly width: number;
  readonly height: number;
  readonly labelWidth: number;
  readonly rowHeight: number;
  readonly headHeight: number;
  readonly decidedX: number;
  readonly ticks: readonly { readonly x: number; readonly label: string }[];
  readonly rows: readonly {
    readonly target: number;
    readonly tone: Tone;
    readonly label: string;
    readonly told: string;
    readonly y: number;
    readonly person?: Span;
    readonly work?: Span;
    readonly decided: string;
  }[];
  readonly leftOut: number;
}

/** A plan, drawn. */
export interface Graph {
  readonly width: number;
  readonly height: number;
  readonly boxWidth: number;
  readonly boxHeight: number;
  readonly boxes: readonly {
    /** The key of its call; negative if it made none. */
    readonly target: number;
    readonly tone: Tone;
    readonly x: number;
    readonly y: number;
    readonly label: string;
    readonly state: string;
    readonly told: string;
    readonly isFinal: boolean;
  }[];
  readonly paths: readonly string[];
}

export interface Plan {
  readonly title: string;
  readonly summary: string;
  readonly graph?: Graph;
}

export interface SessionAnswer {
  readonly session: string;
  readonly workspace: string;
  readonly ref: string;
  readonly timeline?: Timeline;
  readonly plans: readonly Plan[];
  readonly lines: readonly string[];
  readonly leftOut: string;
}

export interface Packs {
  readonly packs: readonly { readonly name: string; readonly presets: readonly string[] }[];
}

export interface Comparison {
  readonly counts: Readonly<Record<'same' | 'tightened' | 'widened' | 'reason' | 'unknown', number>>;
  readonly calls: readonly {
    /** Negative: not in the list. */
    readonly key: number;
    readonly callId: string;
    readonly name: string;
    readonly change: string;
    readonly before: string;
    readonly after: string;
    readonly reasons: readonly string[];
    readonly line: string;
  }[];
}
