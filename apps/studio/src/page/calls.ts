import { type Signal, signal } from '@preact/signals';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { read } from './connection.ts';
import { formatCount, formatDuration, formatTime } from './format.ts';
import { lost, version } from './live.ts';
import { replaceRoute, route, toQuery } from './route.ts';
import type { Call, CallsAnswer, Facet, Facets } from './types.ts';

const rowPx = 58;
const pageSize = 100;
/** Rows that are drawn beyond the visible ones. */
const spare = 8;

const facets: Signal<Facets | undefined> = signal(undefined);

/** Every call of this machine, newest first: only what is visible is read and drawn. */
export function Calls(): ComponentChildren {
  const filter = toQuery(route.value);
  const key = JSON.stringify(filter);
  const [list, setList] = useState<List>({ key: '', version: -1, total: -1, pages: new Map() });
  const [top, setTop] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const height = scroller.current?.clientHeight ?? 800;
  const isFresh = list.key === key && (list.version === version.value || top > rowPx);
  const shown: List = list.key === key ? list : { ...list, pages: new Map() };
  const first = Math.max(0, Math.floor(top / rowPx) - spare);
  const last = Math.min(Math.max(shown.total, pageSize), Math.ceil((top + height) / rowPx) + spare);

  useEffect(() => {
    read<Facets>('facets').then((found) => {
      facets.value = found;
    }, fail);
  }, [version.value]);

  useEffect(() => {
    let isGone = false;
    const pages = range(Math.floor(first / pageSize), Math.floor(Math.max(first, last - 1) / pageSize));
    const missing = isFresh ? pages.filter((page) => !list.pages.has(page)) : pages;
    for (const page of missing) {
      const query = { ...filter, offset: String(page * pageSize), limit: String(pageSize) };
      read<CallsAnswer>('calls', query).then((answer) => {
        if (!isGone) setList((known) => addPage(known, key, page, answer));
      }, fail);
    }
    return () => {
      isGone = true;
    };
  }, [key, version.value, isFresh, Math.floor(first / pageSize), Math.floor(last / pageSize)]);

  const rows = range(first, Math.min(last, Math.max(0, shown.total)) - 1).flatMap((index) => {
    const call = shown.pages.get(Math.floor(index / pageSize))?.[index % pageSize];
    return call === undefined ? [] : [h(Row, { call, index, key: index })];
  });
  return h(
    'main',
    { id: 'main', class: 'wide' },
    h('h1', null, 'Calls'),
    h(Filters, { filter }),
    h(
      'p',
      { role: 'status', class: 'note' },
      list.key === key && list.total >= 0 ? formatCount(list.total, 'call') : 'Reading…',
    ),
    list.key === key && list.total === 0 ? h(NoCalls, { isFiltered: Object.keys(filter).length > 0 }) : null,
    h(
      'div',
      {
        class: list.key === key && list.total === 0 ? 'list none' : 'list',
        ref: scroller,
        tabIndex: 0,
        role: 'group',
        'aria-label': 'Calls, newest first',
        onScroll: (event: Event) => setTop((event.currentTarget as HTMLDivElement).scrollTop),
      },
      h('ol', { style: { height: `${Math.max(0, shown.total) * rowPx}px` } }, rows),
    ),
  );
}

interface List {
  readonly key: string;
  readonly version: number;
  /** -1: not known yet. */
  readonly total: number;
  readonly pages: ReadonlyMap<number, readonly Call[]>;
}

function addPage(known: List, key: string, page: number, answer: CallsAnswer): List {
  const isSame = known.key === key && known.version === answer.version;
  const pages = new Map([...(isSame ? known.pages : []), [page, answer.calls] as const]);
  return { key, version: answer.version, total: answer.total, pages };
}

function fail(thrown: unknown): void {
  lost.value = thrown instanceof Error ? thrown.message : String(thrown);
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

function Row({ call, index }: { readonly call: Call; readonly index: number }): ComponentChildren {
  const { key, name, state, tone, decided, question, message, durationMs, atMs, line, session } = call;
  return h(
    'li',
    { style: { top: `${index * rowPx}px`, height: `${rowPx}px` } },
    h(
      'a',
      { href: `#/call/${key}` },
      h('span', { class: `mark ${tone}` }, state),
      h('strong', null, name),
      h('span', { class: 'decided' }, decided),
      h('span', { class: 'when' }, durationMs === undefined ? '' : `${formatDuration(durationMs)}, `, formatTime(atMs)),
      h('span', { class: 'line' }, h('code', null, line), ` ${question} ${message}`),
      h('span', { class: 'session' }, session),
    ),
  );
}

function NoCalls({ isFiltered }: { readonly isFiltered: boolean }): ComponentChildren {
  return isFiltered
    ? h('section', { class: 'empty' }, h('p', null, 'No call matches. ', h('a', { href: '#/calls' }, 'Show all calls')))
    : h(
        'section',
        { class: 'empty' },
        h('p', null, 'There are no calls on this machine yet. They appear here as they are made.'),
        h('p', null, 'To guard a coding agent: ', h('code', null, 'holdfast guard install claude-code')),
      );
}

type Filter = Readonly<Record<string, string>>;

function Filters({ filter }: { readonly filter: Filter }): ComponentChildren {
  const set = (name: string, value: string): void => {
    const { [name]: _, ...others } = toQuery(route.value);
    const query = new URLSearchParams(value === '' ? others : { ...others, [name]: value }).toString();
    replaceRoute(query === '' ? 'calls' : `calls?${query}`);
  };
  const { tools = [], decisions = [], outcomes = [], sessions = [] } = facets.value ?? {};
  const select = (
    name: string,
    label: string,
    options: readonly Facet[],
    labels?: ReadonlyMap<string, string>,
  ): ComponentChildren =>
    h(
      'label',
      null,
      label,
      h(
        'select',
        {
          value: filter[name] ?? '',
          onChange: (event: Event) => set(name, (event.currentTarget as HTMLSelectElement).value),
        },
        h('option', { value: '' }, 'all'),
        options.map(({ value, times }) =>
          h('option', { value, key: value }, `${labels?.get(value) ?? value} (${times})`),
        ),
      ),
    );
  const found = sessions.map(({ ref, calls }) => ({ value: ref, times: calls }));
  const ids = new Map(sessions.map(({ ref, id }) => [ref, id]));
  return h(
    'form',
    { class: 'filters', role: 'search', onSubmit: (event: SubmitEvent) => event.preventDefault() },
    select('tool', 'Tool', tools),
    select('decision', 'Decision', decisions),
    select('outcome', 'Outcome', outcomes),
    select('session', 'Session', found, ids),
    h(
      'label',
      null,
      'Search',
      h('input', {
        type: 'search',
        value: filter['text'] ?? '',
        onInput: (event: Event) => set('text', (event.currentTarget as HTMLInputElement).value),
      }),
    ),
  );
}
