/** A file that is not replaced for so long comes from a worker that is dead (it writes once a second). */
export const staleAfterMs = 30_000;

/**
 * Reads one of the page's files. The server's own clock (`Date` header) says how old it is, so a browser whose clock is
 * wrong neither hides a dead worker nor mourns a living one.
 */
async function read(name) {
  const response = await fetch(name, { cache: 'no-store', credentials: 'same-origin' });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const value = await response.json();
  const served = Date.parse(response.headers.get('date') ?? '');
  return { value, servedAt: Number.isFinite(served) ? served : Date.now() };
}

/** What the page knows. `age` is computed here, in the browser, and grows while nothing new arrives. */
export function createData() {
  const state = {
    metrics: undefined,
    list: undefined,
    detail: undefined,
    detailId: '',
    fault: '',
    readAt: 0,
    ageAtRead: 0,
  };
  return {
    state,
    ageMs() {
      return state.metrics === undefined ? Infinity : state.ageAtRead + (performance.now() - state.readAt);
    },
    async refresh(route) {
      try {
        const { value, servedAt } = await read('metrics.json');
        state.metrics = value;
        state.ageAtRead = Math.max(0, servedAt - Date.parse(value.updated_at));
        state.readAt = performance.now();
        state.fault = '';
      } catch (error) {
        state.fault = error instanceof Error ? error.message : String(error);
      }
      return route;
    },
    async refreshList() {
      try {
        state.list = toLines((await read('data/executions.json')).value);
      } catch {
        state.list ??= [];
      }
    },
    async refreshDetail(id) {
      if (state.detailId !== id) Object.assign(state, { detailId: id, detail: undefined });
      if (!/^[0-9a-f-]{36}$/.test(id)) return;
      try {
        state.detail = (await read(`data/executions/${id}.json`)).value;
      } catch {
        state.detail ??= null;
      }
    },
  };
}

/** The list comes as rows under named columns. */
function toLines({ columns, executions }) {
  return executions.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
}

/** When `gridloom serve` serves the page, its event stream says at once that something moved. */
export function followEvents(onMove) {
  if (document.documentElement.dataset.served === undefined) return;
  const source = new EventSource('events');
  source.addEventListener('message', onMove);
}
