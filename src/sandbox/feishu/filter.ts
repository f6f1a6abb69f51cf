import { z } from 'zod';
import { isJsonObject, type Json } from '../../kernel/index.ts';
import type { FieldState, RecordState, TableState } from '../state.ts';
import { cellText, fieldType } from './cells.ts';
import { Refusal } from './refusal.ts';

const conditionSchema = z.object({
  field_name: z.string(),
  operator: z.string(),
  value: z.array(z.string()).max(10).optional(),
});
const leafSchema = z.object({
  conjunction: z.enum(['and', 'or']),
  conditions: z.array(conditionSchema).max(50).optional(),
});
const filterSchema = leafSchema.extend({ children: z.array(leafSchema).max(50).optional() });

type Condition = z.infer<typeof conditionSchema>;
type Test = (record: RecordState) => boolean;

const maxFilterChars = 2_000;

/**
 * The `filter` of records/search as a predicate. A filter that is wrapped one level too deep is ignored by the platform, not
 * refused; so it is here. Facts: operators by type, `value: []` needed with isEmpty, two levels at most.
 */
export function compileFilter(table: TableState, filter: unknown): Test {
  if (filter === undefined || filter === null) return () => true;
  if (!isJsonObject(filter)) throw new Refusal(1254018, 'InvalidFilter');
  if (JSON.stringify(filter).length > maxFilterChars) throw new Refusal(1254107, 'FilterLengthExceedLimit');
  if (filter['conjunction'] === undefined && filter['filter'] !== undefined) return () => true;
  if (Object.keys(filter).length === 0) return () => true;
  const parsed = filterSchema.safeParse(filter);
  if (!parsed.success) throw new Refusal(1254018, 'InvalidFilter');
  const { conjunction, conditions = [], children = [] } = parsed.data;
  const tests = [
    ...conditions.map((condition) => compileCondition(table, condition)),
    ...children.map((child) =>
      join(
        child.conjunction,
        (child.conditions ?? []).map((condition) => compileCondition(table, condition)),
      ),
    ),
  ];
  return join(conjunction, tests);
}

function join(conjunction: 'and' | 'or', tests: readonly Test[]): Test {
  if (tests.length === 0) return () => true;
  return conjunction === 'and'
    ? (record) => tests.every((test) => test(record))
    : (record) => tests.some((test) => test(record));
}

const unfilterable: readonly number[] = [fieldType.formula, fieldType.lookup];

function compileCondition(table: TableState, condition: Condition): Test {
  const field = table.fields.find((candidate) => candidate.name === condition.field_name && candidate.hidden !== true);
  if (field === undefined || unfilterable.includes(field.type)) throw new Refusal(1254018, 'InvalidFilter');
  if (condition.value === undefined) throw new Refusal(1254018, 'InvalidFilter: missing value');
  checkOperator(field, condition.operator);
  const read = (record: RecordState): Json | undefined => record.cells[field.fieldId];
  const wanted = condition.value;
  switch (condition.operator) {
    case 'isEmpty':
      return (record) => isEmpty(read(record));
    case 'isNotEmpty':
      return (record) => !isEmpty(read(record));
    case 'is':
      return (record) => equals(field, read(record), wanted);
    case 'isNot':
      return (record) => !equals(field, read(record), wanted);
    case 'contains':
      return (record) => wanted.some((text) => cellText(read(record)).includes(text));
    case 'doesNotContain':
      return (record) => !wanted.some((text) => cellText(read(record)).includes(text));
    case 'isGreater':
      return compare(read, wanted, field, (left, right) => left > right);
    case 'isGreaterEqual':
      return compare(read, wanted, field, (left, right) => left >= right);
    case 'isLess':
      return compare(read, wanted, field, (left, right) => left < right);
    case 'isLessEqual':
      return compare(read, wanted, field, (left, right) => left <= right);
    default:
      throw new Refusal(1254018, `InvalidFilter: operator ${condition.operator}`);
  }
}

const emptiness = ['isEmpty', 'isNotEmpty'];
const allowed: Readonly<Record<number, readonly string[]>> = {
  [fieldType.date]: ['is', 'isGreater', 'isLess', ...emptiness],
  [fieldType.checkbox]: ['is'],
  [fieldType.attachment]: emptiness,
};

function checkOperator(field: FieldState, operator: string): void {
  if (allowed[field.type]?.includes(operator) === false) {
    throw new Refusal(1254018, `InvalidFilter: ${operator} does not go with field type ${field.type}`);
  }
}

function isEmpty(cell: Json | undefined): boolean {
  if (cell === undefined || cell === null || cell === '') return true;
  return Array.isArray(cell) && cell.length === 0;
}

const dayMs = 86_400_000;
/** The document's time zone: dates in filters are cut to its midnight. */
const zoneOffsetMs = 8 * 3_600_000;

function midnight(atMs: number): number {
  return Math.floor((atMs + zoneOffsetMs) / dayMs) * dayMs - zoneOffsetMs;
}

function operand(field: FieldState, wanted: readonly string[]): number {
  if (field.type !== fieldType.date) return Number(wanted[0]);
  if (wanted[0] !== 'ExactDate') throw new Refusal(1254018, 'InvalidFilter: only ExactDate is understood here');
  return midnight(Number(wanted[1]));
}

function equals(field: FieldState, cell: Json | undefined, wanted: readonly string[]): boolean {
  switch (field.type) {
    case fieldType.number:
      return typeof cell === 'number' && cell === Number(wanted[0]);
    case fieldType.date:
      return typeof cell === 'number' && midnight(cell) === operand(field, wanted);
    case fieldType.checkbox:
      return (cell === true) === (wanted[0] === 'true');
    case fieldType.multiSelect:
      return Array.isArray(cell) && cell.length === wanted.length && wanted.every((name) => cell.includes(name));
    case fieldType.person:
      return (
        Array.isArray(cell) && wanted.every((id) => cell.some((one: Json) => isJsonObject(one) && one['id'] === id))
      );
    default:
      return cellText(cell) === (wanted[0] ?? '');
  }
}

function compare(
  read: (record: RecordState) => Json | undefined,
  wanted: readonly string[],
  field: FieldState,
  holds: (left: number, right: number) => boolean,
): Test {
  const right = operand(field, wanted);
  return (record) => {
    const cell = read(record);
    return typeof cell === 'number' && holds(cell, right);
  };
}
