import Papa from 'papaparse';

export const METADATA = {
  name: 'summarize_csv',
  function: 'summarizeCsv',
  description: 'Summarize a CSV table: rows, columns with their types, minimum, maximum, mean, sum and missing values.',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: {
      file: { type: 'string', description: 'Path of the CSV file' },
      column: { type: 'string', description: 'Summarize only the column with this name' },
      separator: {
        type: 'string',
        enum: [',', ';', '\t', '|'],
        description: 'Character between the cells; found out when left out',
      },
    },
    required: ['file'],
  },
};

const maxColumns = 50;
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const date = /^\d{4}-\d{2}-\d{2}(?:[T ].*)?$/;

export async function summarizeCsv({ file, column, separator = '' }, { filesystem }) {
  const text = (await filesystem.readText(file)).replace(/^\ufeff/, '');
  const { data, errors, meta } = Papa.parse(text, { delimiter: separator, skipEmptyLines: 'greedy' });
  const [header, ...rows] = data;
  if (header === undefined) throw new Error(`\`${file}\` has no rows.`);
  const names = header.map((name, index) => name.trim() || `column ${index + 1}`);
  if (column !== undefined && !names.includes(column)) {
    throw new Error(`\`${file}\` has no column \`${column}\`. Its columns: ${names.slice(0, maxColumns).join(', ')}.`);
  }
  const indexes = [...names.keys()].filter((index) => column === undefined || names[index] === column);
  const uneven = rows.filter(({ length }) => length !== header.length).length;
  return {
    file,
    rows: rows.length,
    columns: names.length,
    separator: meta.delimiter,
    summary: indexes.slice(0, maxColumns).map((index) =>
      summarize(
        names[index],
        rows.map((row) => (row[index] ?? '').trim()),
      ),
    ),
    ...(indexes.length > maxColumns ? { columns_left_out: indexes.length - maxColumns } : {}),
    ...(uneven > 0 ? { rows_of_another_length: uneven } : {}),
    ...(errors.some(({ type }) => type === 'Quotes')
      ? { warning: 'Some quotes do not close: cells may be wrong.' }
      : {}),
  };
}

function summarize(name, cells) {
  const present = cells.filter((cell) => cell !== '');
  const summary = { name, missing: cells.length - present.length, different: new Set(present).size };
  if (present.length === 0) return { ...summary, type: 'empty' };
  if (present.every((cell) => number.test(cell))) {
    const values = present.map(Number);
    let [min, max, sum] = [Infinity, -Infinity, 0];
    for (const value of values) [min, max, sum] = [Math.min(min, value), Math.max(max, value), sum + value];
    return {
      ...summary,
      type: values.every(Number.isInteger) ? 'integer' : 'number',
      min,
      max,
      mean: round(sum / values.length),
      sum: round(sum),
    };
  }
  if (present.every((cell) => date.test(cell))) {
    const sorted = present.toSorted();
    return { ...summary, type: 'date', first: sorted[0], last: sorted.at(-1) };
  }
  if (present.every((cell) => /^(?:true|false|yes|no)$/i.test(cell))) {
    return { ...summary, type: 'boolean', true: present.filter((cell) => /^(?:true|yes)$/i.test(cell)).length };
  }
  const counts = Map.groupBy(present, (cell) => cell);
  const frequent = [...counts]
    .map(([value, all]) => ({ value: value.slice(0, 100), count: all.length }))
    .toSorted((a, b) => b.count - a.count);
  return { ...summary, type: 'text', most_frequent: frequent.slice(0, 5) };
}

function round(value) {
  return Number(value.toPrecision(12));
}
