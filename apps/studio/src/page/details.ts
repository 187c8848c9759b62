import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Compare } from './compare.ts';
import { read } from './connection.ts';
import { formatDuration, formatTime } from './format.ts';
import { version } from './live.ts';
import { PlanView } from './plan.ts';
import type { CallAnswer, SessionAnswer, Timeline, Use } from './types.ts';

/** Reads again when something changes; `undefined` until the first answer. */
function useAnswer<Answer>(path: string, name: string, value: string): Answer | string | undefined {
  const [answer, setAnswer] = useState<{ readonly of: string; readonly found: Answer | string }>();
  const of = `${path} ${value}`;
  useEffect(() => {
    let isGone = false;
    const set = (found: Answer | string): void => {
      if (!isGone) setAnswer({ of, found });
    };
    read<Answer>(path, { [name]: value }).then(set, (thrown: unknown) => set(String((thrown as Error).message)));
    return () => {
      isGone = true;
    };
  }, [of, version.value]);
  return answer?.of === of ? answer.found : undefined;
}

/** Why one call was allowed, held or denied. */
export function CallPage({ id }: { readonly id: string }): ComponentChildren {
  const call = useAnswer<CallAnswer>('call', 'key', id);
  if (call === undefined || typeof call === 'string') return h(Waiting, { title: 'Call', said: call });
  const { name, state, tone, atMs, durationMs, ref, session, uses, integrity } = call;
  return h(
    'main',
    { id: 'main' },
    h('h1', null, h('code', null, name), ' ', h('span', { class: `mark ${tone}` }, state)),
    h(
      'p',
      { class: 'note' },
      formatTime(atMs),
      durationMs === undefined ? '' : `, ${formatDuration(durationMs)}`,
      ', session ',
      h('a', { href: `#/session/${ref}` }, session),
    ),
    uses.map((use, index) => h(UseView, { use, key: index, isFirst: index === 0 })),
    h('p', { class: 'note' }, integrity),
  );
}

function UseView({ use, isFirst }: { readonly use: Use; readonly isFirst: boolean }): ComponentChildren {
  const { callId, name, state, entries, nested } = use;
  return h(
    'section',
    { class: 'use' },
    h('h2', null, isFirst ? 'Why' : `${name}: ${state}`, ' ', h('small', null, callId)),
    h(
      'dl',
      null,
      entries.flatMap(([label, texts]) => [
        h('dt', { key: label }, label),
        h(
          'dd',
          { key: `${label}:` },
          texts.map((text, index) => h('div', { class: 'text', key: index }, text)),
        ),
      ]),
    ),
    nested.length === 0 ? null : h('h3', null, 'Calls inside it'),
    nested.map((inner, index) => h(UseView, { use: inner, key: index, isFirst: false })),
  );
}

/** The timeline of a session, and its log in words. */
export function SessionPage({ id }: { readonly id: string }): ComponentChildren {
  const session = useAnswer<SessionAnswer>('session', 'session', id);
  if (session === undefined || typeof session === 'string') return h(Waiting, { title: 'Session', said: session });
  const { timeline, plans, workspace, lines, leftOut, ref } = session;
  return h(
    'main',
    { id: 'main', class: 'wide' },
    h('h1', null, session.session),
    h('p', { class: 'note' }, workspace, ' · ', h('a', { href: `#/calls?session=${ref}` }, 'List of its calls')),
    h('h2', { id: 'timeline-title' }, 'Timeline'),
    timeline === undefined
      ? h('p', { class: 'note' }, 'This session made no call yet.')
      : h(TimelineView, { timeline }),
    plans.map((plan, index) => h(PlanView, { plan, id: `plan-${index}`, key: index })),
    h(Compare, { session: ref }),
    h('h2', { id: 'log-title' }, 'Log'),
    leftOut === '' ? null : h('p', { class: 'note' }, leftOut),
    h('pre', { class: 'log', tabIndex: 0, role: 'group', 'aria-labelledby': 'log-title' }, lines.join('\n')),
  );
}

function TimelineView({ timeline }: { readonly timeline: Timeline }): ComponentChildren {
  const { width, height, labelWidth, rowHeight, headHeight, decidedX, ticks, rows, leftOut } = timeline;
  return h(
    'div',
    null,
    h(
      'p',
      { class: 'note' },
      'A solid bar is work; a pale bar with a dashed border is waiting for a person.',
      leftOut === 0 ? '' : ` The ${rows.length} longest calls; ${leftOut} more are not shown.`,
    ),
    h(
      'div',
      { class: 'scroll', role: 'group', 'aria-labelledby': 'timeline-title', tabIndex: 0 },
      h(
        'svg',
        { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-labelledby': 'timeline-title' },
        ticks.map(({ x, label }) => [
          h('line', { class: 'axis', x1: x, y1: headHeight - 6, x2: x, y2: height }),
          h('text', { class: 'small', x: x + 3, y: 16 }, label),
        ]),
        rows.map(({ target, tone, label, told, y, person, work, decided }) =>
          h(
            'a',
            { key: target, href: `#/call/${target}`, class: tone },
            h('title', null, told),
            h('svg', { x: 0, y, width: labelWidth - 8, height: rowHeight }, h('text', { x: 6, y: 16 }, label)),
            person === undefined
              ? null
              : h('rect', { class: 'person', x: person.x, y: y + 5, width: person.width, height: 14, rx: 2 }),
            work === undefined
              ? null
              : h('rect', { class: 'bar', x: work.x, y: y + 5, width: work.width, height: 14, rx: 2 }),
            h('text', { class: 'small', x: decidedX, y: y + 16 }, decided),
          ),
        ),
      ),
    ),
  );
}

function Waiting({ title, said }: { readonly title: string; readonly said: string | undefined }): ComponentChildren {
  return h(
    'main',
    { id: 'main' },
    h('h1', null, title),
    h('p', { role: 'status', class: said === undefined ? 'note' : 'problem' }, said ?? 'Reading…'),
  );
}
