/** Panel of a dashboard, described beside the metrics that it shows. */
export type Panel<Row extends string = string> = {
  /** Row of the dashboard. Single values of a row stand before its curves. */
  readonly row: Row;
  readonly title: string;
  readonly description?: string;
  /** A single value, a table, or curves (default). */
  readonly kind?: 'stat' | 'table';
  /** Lines of the grid; default: 4 for a single value, 8 for others. */
  readonly height?: number;
  /** Unit of Grafana; default: `short`, a number without a unit. */
  readonly unit?: string;
  /** Legend -> PromQL. PODS stands for the labels of one TonApi, RATE for the interval of rates. */
  readonly queries: Readonly<Record<string, string>>;
};

/** Variable of a dashboard that its viewer chooses. */
export type Variable =
  | { readonly name: string; readonly label: string; readonly values: string }
  | { readonly name: string; readonly label: string; readonly choices: readonly string[] };

export type Dashboard<Row extends string> = {
  /** End of its identity, and name of its file. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  /** Rows in their order. */
  readonly rows: readonly Row[];
  /** Columns of the grid that a single value and a curve take, of 24. */
  readonly widths: { readonly stat: number; readonly curves: number };
  readonly panels: readonly Panel<Row>[];
};

const columns = 24;
const datasource = { type: 'prometheus', uid: '${datasource}' };

/** Returns the JSON of a dashboard for Grafana. The viewer chooses its data source. */
export function renderDashboard<Row extends string>(dashboard: Dashboard<Row>): object {
  return {
    uid: `tonplane-${dashboard.name}`,
    title: `Tonplane / ${dashboard.title}`,
    description: dashboard.description,
    tags: ['tonplane'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    time: { from: 'now-3h', to: 'now' },
    refresh: '30s',
    timezone: '',
    templating: { list: [sourceVariable, ...dashboard.variables.map(renderVariable)] },
    annotations: { list: [] },
    links: [],
    panels: renderPanels(dashboard),
  };
}

const sourceVariable = {
  name: 'datasource',
  label: 'Data source',
  type: 'datasource',
  query: 'prometheus',
  current: {},
  hide: 0,
  includeAll: false,
  multi: false,
  refresh: 1,
  regex: '',
  options: [],
};

function renderVariable(variable: Variable): object {
  const { name, label } = variable;
  if ('choices' in variable) {
    const [first = ''] = variable.choices;
    const current = { text: first, value: first, selected: true };
    const query = variable.choices.join(',');
    return { name, label, type: 'custom', query, current, options: [], hide: 0, includeAll: false, multi: false };
  }
  return {
    name,
    label,
    type: 'query',
    datasource,
    query: { query: variable.values, refId: name },
    definition: variable.values,
    refresh: 2,
    sort: 1,
    includeAll: false,
    multi: false,
    current: {},
    options: [],
    hide: 0,
    regex: '',
  };
}

/** Returns rows and their panels, placed from left to right and from top to bottom. */
function renderPanels<Row extends string>({ rows, panels, widths }: Dashboard<Row>): object[] {
  const rendered: object[] = [];
  let y = 0;
  for (const row of rows) {
    const gridPos = { h: 1, w: columns, x: 0, y };
    rendered.push({ id: rendered.length + 1, type: 'row', title: row, collapsed: false, gridPos, panels: [] });
    y += 1;
    let x = 0;
    let lineHeight = 0;
    const ofRow = panels.filter((panel) => panel.row === row);
    for (const panel of [...ofRow.filter(isStat), ...ofRow.filter((each) => !isStat(each))]) {
      const w = isStat(panel) ? widths.stat : widths.curves;
      const h = panel.height ?? (isStat(panel) ? 4 : 8);
      if (x + w > columns) {
        x = 0;
        y += lineHeight;
        lineHeight = 0;
      }
      rendered.push(renderPanel(panel, rendered.length + 1, { h, w, x, y }));
      x += w;
      lineHeight = Math.max(lineHeight, h);
    }
    y += lineHeight;
  }
  return rendered;
}

function isStat({ kind }: Panel): boolean {
  return kind === 'stat';
}

function renderPanel(panel: Panel, id: number, gridPos: object): object {
  const { title, description = '', unit = 'short', kind } = panel;
  const type = kind ?? 'timeseries';
  const custom = { fillOpacity: 8, lineWidth: 1, showPoints: 'never' };
  return {
    id,
    type,
    title,
    description,
    datasource,
    gridPos,
    fieldConfig: { defaults: { unit, ...(kind === undefined && { custom }) }, overrides: [] },
    options: optionsOf[type],
    targets: Object.entries(panel.queries).map(([legendFormat, query], at) => ({
      refId: String.fromCodePoint(65 + at),
      datasource,
      expr: query
        .replaceAll('PODS', 'namespace="$namespace",tonapi="$tonapi"')
        .replaceAll('[RATE]', '[$__rate_interval]'),
      legendFormat,
      ...(kind === 'table' && { instant: true, format: 'table', range: false }),
    })),
  };
}

const optionsOf = {
  stat: {
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    colorMode: 'value',
    graphMode: 'area',
    textMode: 'auto',
  },
  table: { showHeader: true },
  timeseries: {
    legend: { displayMode: 'table', placement: 'bottom', calcs: ['lastNotNull', 'max'], showLegend: true },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
} as const;
