import type { ConflictCode } from '../../engine/ports/index.ts';
import type { Operation } from '../shared/encode.ts';
import { type WriteName, writeStatements } from '../shared/statements.ts';
import type { Param } from './places.ts';

/**
 * Lists of operations on their way to the writer's thread: one array of plain values. What crosses is copied twice, and
 * objects with names take three times as long as this (2.6 and 2.5 µs a list against 0.7 and 0.9).
 */
export type Crossing = readonly (Param | undefined)[];

const names = Object.keys(writeStatements) as WriteName[]; // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion
const numbers = new Map(names.map((name, number) => [name, number]));

/** Each list: how many operations; each operation: statement, conflict, how many values, the values. */
export function pack(lists: readonly (readonly Operation[])[]): Crossing {
  const packed: (Param | undefined)[] = [];
  for (const operations of lists) {
    packed.push(operations.length);
    for (const { statement, conflict, params } of operations) {
      packed.push(numbers.get(statement), conflict, params.length);
      for (const param of params) packed.push(param);
    }
  }
  return packed;
}

/** What `pack` was given. Both ends are this program, so the other end's packing is trusted. */
export function unpack(packed: Crossing): readonly (readonly Operation[])[] {
  const lists: Operation[][] = [];
  let at = 0;
  while (at < packed.length) {
    const operations: Operation[] = [];
    for (let left = Number(packed[at++]); left > 0; left -= 1) {
      const statement = names[Number(packed[at])];
      const conflict = packed[at + 1] as ConflictCode | undefined; // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion
      const count = Number(packed[at + 2]);
      const params = packed.slice(at + 3, at + 3 + count) as Param[]; // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion
      at += 3 + count;
      if (statement === undefined) throw new Error('an operation without a statement');
      operations.push({ statement, params, ...(conflict === undefined ? {} : { conflict }) });
    }
    lists.push(operations);
  }
  return lists;
}
