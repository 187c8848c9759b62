import { type ComponentChildren, h } from 'preact';
import type { Graph, Plan } from './types.ts';

/** A run of a plan: each node below those it depends on, leading to its call. */
export function PlanView({ plan, id }: { readonly plan: Plan; readonly id: string }): ComponentChildren {
  const { title, summary, graph } = plan;
  return h(
    'section',
    { 'aria-labelledby': id },
    h('h2', { id }, title),
    h('p', { class: 'note' }, summary),
    graph === undefined
      ? h('p', { class: 'note' }, 'Too large to draw: ', h('code', null, 'holdfast trace'), ' lists its nodes.')
      : h(
          'div',
          { class: 'scroll', role: 'group', 'aria-labelledby': id, tabIndex: 0 },
          h(GraphView, { graph, labelledBy: id }),
        ),
  );
}

function GraphView({ graph, labelledBy }: { readonly graph: Graph; readonly labelledBy: string }): ComponentChildren {
  const { width, height, boxWidth, boxHeight, boxes, paths } = graph;
  const head = `${labelledBy}-head`;
  return h(
    'svg',
    { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-labelledby': labelledBy },
    h(
      'defs',
      null,
      h(
        'marker',
        { id: head, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto' },
        h('path', { class: 'head', d: 'M0 0L8 4L0 8z' }),
      ),
    ),
    h(
      'g',
      { 'aria-hidden': true },
      paths.map((d, index) => h('path', { class: 'edge', 'marker-end': `url(#${head})`, d, key: index })),
    ),
    boxes.map(({ target, tone, x, y, label, state, told, isFinal }, index) => {
      const inset = isFinal ? 2 : 1;
      const size = { width: boxWidth - 2 * inset, height: boxHeight - 2 * inset };
      return h(
        target < 0 ? 'g' : 'a',
        { key: index, class: tone, ...(target < 0 ? {} : { href: `#/call/${target}` }) },
        h(
          'svg',
          { x, y, width: boxWidth, height: boxHeight },
          h('title', null, told),
          h('rect', { class: isFinal ? 'box final' : 'box', x: inset, y: inset, ...size, rx: 6 }),
          h('text', { class: 'name', x: 10, y: 19 }, label),
          h('text', { class: 'small', x: 10, y: 36 }, state),
        ),
      );
    }),
  );
}
