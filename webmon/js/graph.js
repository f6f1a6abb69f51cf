import { h, s } from './dom.js';
import { sign, toneOf } from './parts.js';

const nodeWidth = 150;
const nodeHeight = 52;
const gapX = 52;
const gapY = 20;

/** The workflow as a picture, left to right: a node stands one column after the last that it waits for. */
export function graphPicture(graph, records, t) {
  const places = layOut(graph.nodes);
  const columns = Math.max(...[...places.values()].map((place) => place.column)) + 1;
  const rows = Math.max(...[...places.values()].map((place) => place.row)) + 1;
  const width = columns * (nodeWidth + gapX) - gapX + 4;
  const height = rows * (nodeHeight + gapY) - gapY + 4;
  const states = statesOf(graph.nodes, records);
  return h(
    'div',
    { class: 'scroll graph', tabindex: 0, role: 'region', 'aria-label': t('graph') },
    s(
      'svg',
      { width, height, viewBox: `0 0 ${width} ${height}`, role: 'list', 'aria-label': t('graph') },
      graph.nodes.flatMap((node) => node.incoming.map((edge) => edgePath(edge, places, node.id, states))),
      graph.nodes.map((node) => nodeBox(node, places.get(node.id), states.get(node.id), t)),
    ),
  );
}

/** Longest path from a start gives the column; the order of the file gives the row. Edges to unknown nodes are left out. */
export function layOut(nodes) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const columns = new Map();
  const columnOf = (id, trail) => {
    const known = columns.get(id);
    if (known !== undefined) return known;
    const before = (byId.get(id)?.incoming ?? [])
      .map((edge) => edge.from)
      .filter((from) => byId.has(from) && !trail.has(from));
    const column =
      before.length === 0 ? 0 : 1 + Math.max(...before.map((from) => columnOf(from, new Set(trail).add(id))));
    columns.set(id, column);
    return column;
  };
  const filled = new Map();
  const places = new Map();
  for (const node of nodes) {
    const column = columnOf(node.id, new Set([node.id]));
    const row = filled.get(column) ?? 0;
    filled.set(column, row + 1);
    places.set(node.id, { column, row });
  }
  return places;
}

/** A node's own record; items of a map and nodes of a sub-workflow (`shots[3]/draw`) are counted at their node. */
function statesOf(nodes, records) {
  const states = new Map();
  for (const node of nodes) {
    const own = records.find((record) => record.path === node.id);
    const inner = records.filter((record) => record.path.startsWith(`${node.id}[`) && record.path.endsWith(']'));
    const done = inner.filter((record) => record.status === 'succeeded').length;
    states.set(node.id, {
      status: own?.status ?? 'pending',
      degraded: own?.degraded ?? false,
      items: inner.length === 0 ? '' : `${done}/${inner.length}`,
      ms: own?.started_at && own.ended_at ? own.ended_at - own.started_at : null,
    });
  }
  return states;
}

const xOf = (place) => place.column * (nodeWidth + gapX) + 2;
const yOf = (place) => place.row * (nodeHeight + gapY) + 2;

function edgePath(edge, places, to, states) {
  const start = places.get(edge.from);
  const end = places.get(to);
  if (start === undefined || end === undefined) return null;
  const x1 = xOf(start) + nodeWidth;
  const y1 = yOf(start) + nodeHeight / 2;
  const x2 = xOf(end);
  const y2 = yOf(end) + nodeHeight / 2;
  const bend = Math.max(24, (x2 - x1) / 2);
  const isTaken = states.get(edge.from)?.status === 'succeeded' && states.get(to)?.status !== 'skipped';
  return s(
    'g',
    { class: `edge ${edge.kind} ${isTaken ? 'taken' : ''}` },
    s('path', { d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` }),
    edge.branch ? s('text', { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 5, 'text-anchor': 'middle' }, edge.branch) : null,
  );
}

function nodeBox(node, place, state, t) {
  const tone = state.degraded ? 'warn' : toneOf(state.status);
  const status = state.degraded ? t('degraded') : t(`status.${state.status}`);
  const mark = sign(tone);
  for (const [name, value] of Object.entries({ x: 10, y: 17, width: 18, height: 18 })) mark.setAttribute(name, value);
  return s(
    'g',
    {
      class: `node ${tone}`,
      transform: `translate(${xOf(place)} ${yOf(place)})`,
      role: 'listitem',
      'aria-label': `${node.title}：${status} ${state.items}`,
    },
    s('title', {}, `${node.id} (${node.kind})`),
    s('rect', { width: nodeWidth, height: nodeHeight, rx: 9 }),
    mark,
    s('text', { class: 'name', x: 36, y: 22 }, clip(node.title, 8)),
    s('text', { class: 'state', x: 36, y: 40 }, [status, state.items].filter((part) => part !== '').join(' · ')),
  );
}

/** About so many Chinese characters fit; Latin ones are half as wide. */
function clip(text, most) {
  let width = 0;
  let out = '';
  for (const character of text) {
    width += character.codePointAt(0) > 0x2e7f ? 1 : 0.58;
    if (width > most && out !== '') return `${out}…`;
    out += character;
  }
  return out;
}
