import { type ComponentChildren, h } from 'preact';
import { useEffect } from 'preact/hooks';
import { formatCount, formatDuration, formatTime } from './format.ts';
import { type Card, cards, give, isLoaded, nowMs, problems } from './live.ts';

export function Inbox(): ComponentChildren {
  useEffect(() => {
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  const open = cards.value.filter(({ status }) => status === 'open' || status === 'sending').length;
  return h(
    'main',
    { id: 'main' },
    h('h1', null, 'Inbox'),
    h(
      'p',
      { role: 'status', class: 'note' },
      isLoaded.value ? describeCount(open) : 'Reading the sessions of this machine…',
    ),
    problems.value.map((problem) => h('p', { class: 'problem', key: problem }, problem)),
    isLoaded.value && cards.value.length === 0 ? h(Empty, null) : null,
    cards.value.map((card) => h(QuestionCard, { card, key: card.question.nonce })),
    cards.value.length === 0
      ? null
      : h('p', { class: 'note keys' }, 'Keys: j and k move, a, g and d go to an answer, Enter gives it.'),
  );
}

function describeCount(open: number): string {
  if (open === 0) return 'Nothing waits for an answer.';
  return open === 1 ? '1 call waits for an answer.' : `${formatCount(open, 'call')} wait for an answer.`;
}

function Empty(): ComponentChildren {
  return h(
    'section',
    { class: 'empty' },
    h('p', null, 'A call that needs a person appears here by itself, from every session of this machine.'),
    h('p', null, 'To guard a coding agent: ', h('code', null, 'holdfast guard install claude-code')),
    h('p', null, 'To see one at work: ', h('code', null, 'holdfast demo')),
    h('p', null, h('a', { href: '#/calls' }, 'All calls')),
  );
}

function QuestionCard({ card }: { readonly card: Card }): ComponentChildren {
  const { question, status } = card;
  const { nonce, name, dangerous, asks, facts, changes, note } = question;
  const title = `question-${nonce}`;
  return h(
    'article',
    { class: `card ${status}`, tabIndex: -1, 'aria-labelledby': title },
    h(
      'h2',
      { id: title },
      h('code', null, name),
      dangerous ? h('span', { class: 'mark bad' }, 'dangerous') : null,
      status === 'open' ? null : h('span', { class: `mark ${status === 'answered' ? 'ok' : 'skipped'}` }, status),
    ),
    h(
      'ul',
      { class: 'asks' },
      asks.map(({ policy, reason }, index) => h('li', { key: index }, reason, ' ', h('small', null, policy))),
    ),
    h(Lines, { lines: question.arguments, label: 'Arguments' }),
    facts.length === 0
      ? null
      : h(
          'ul',
          { class: 'facts', 'aria-label': 'Facts' },
          facts.map((fact, index) => h('li', { key: index }, fact)),
        ),
    changes.map(({ title: changed, diff }, index) => h(Change, { key: index, changed, diff })),
    note === undefined ? null : h('p', { class: 'note' }, note),
    h(Asker, { card }),
    status === 'open' ? h(Answers, { card }) : null,
    h('p', { class: 'said', role: 'status' }, status === 'sending' ? 'Sending…' : card.said),
  );
}

function Lines({ lines, label }: { readonly lines: readonly string[]; readonly label: string }): ComponentChildren {
  return h('pre', { tabIndex: 0, role: 'group', 'aria-label': label }, lines.join('\n'));
}

const kinds = new Map([
  ['+', 'added'],
  ['-', 'removed'],
]);

function Change({ changed, diff }: { readonly changed: string; readonly diff: readonly string[] }): ComponentChildren {
  const lines = diff.map((line, index) =>
    h('span', { key: index, class: kinds.get(line.charAt(0)) ?? '' }, line, '\n'),
  );
  return h(
    'div',
    null,
    h('p', { class: 'changed' }, changed),
    diff.length === 0 ? null : h('pre', { tabIndex: 0, role: 'group', 'aria-label': `Change of ${changed}` }, lines),
  );
}

function Asker({ card: { question } }: { readonly card: Card }): ComponentChildren {
  const { session, log, request, model, workspace, askedAtMs, expiresAtMs, digest } = question;
  const leftMs = expiresAtMs - nowMs.value;
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    ...(request === undefined ? [] : [['Request', request] as const]),
    ['Session', h('a', { href: `#/session/${log}` }, session)],
    ['Folder', workspace],
    ...(model === undefined ? [] : [['Model', model] as const]),
    ['Asked', `${formatTime(askedAtMs)}, ${formatDuration(Math.max(0, nowMs.value - askedAtMs))} ago`],
    ['Expires', leftMs > 0 ? `in ${formatDuration(leftMs)}` : 'now: it counts as denied'],
    ...(digest === '' ? [] : [['Digest', h('code', null, digest.slice(0, 16))] as const]),
  ];
  return h(
    'dl',
    null,
    rows.flatMap(([label, value]) => [h('dt', { key: label }, label), h('dd', { key: `${label}:` }, value)]),
  );
}

function Answers({ card: { question } }: { readonly card: Card }): ComponentChildren {
  const { nonce, name, grantable } = question;
  const reason = `reason-${nonce}`;
  const deny = (event: SubmitEvent): void => {
    event.preventDefault();
    const field = document.getElementById(reason);
    void give(nonce, { type: 'deny', reason: field instanceof HTMLInputElement ? field.value.trim() : '' });
  };
  return h(
    'form',
    { class: 'answers', onSubmit: deny },
    h(
      'button',
      { type: 'button', class: 'yes', 'data-key': 'a', onClick: () => void give(nonce, { type: 'approve' }) },
      'Approve once',
    ),
    grantable
      ? h(
          'button',
          { type: 'button', 'data-key': 'g', onClick: () => void give(nonce, { type: 'approve', grant: true }) },
          `Approve and grant ${name}`,
        )
      : null,
    h(
      'span',
      { class: 'deny' },
      h('label', { class: 'told', for: reason }, `Why ${name} is denied; the model is told`),
      h('input', {
        id: reason,
        maxLength: 2000,
        placeholder: 'Why not (the model is told)',
        'data-key': 'd',
        autocomplete: 'off',
      }),
      h('button', { type: 'submit', class: 'no' }, 'Deny'),
    ),
  );
}

/** A letter only moves the focus: an answer takes a second key. */
function onKeyDown(event: KeyboardEvent): void {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || target instanceof HTMLInputElement) return;
  const all = [...document.querySelectorAll<HTMLElement>('.card.open')];
  const at = all.findIndex((card) => card.contains(document.activeElement));
  const goTo = (element: HTMLElement | null | undefined): void => {
    if (element === null || element === undefined) return;
    event.preventDefault();
    element.focus();
  };
  if (key === 'j') goTo(all[Math.min(at + 1, all.length - 1)]);
  else if (key === 'k') goTo(all[Math.max(at - 1, 0)]);
  else if (key === 'a' || key === 'g' || key === 'd') goTo(all[Math.max(at, 0)]?.querySelector(`[data-key=${key}]`));
}
