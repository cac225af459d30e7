import type { Machine } from '../machine.ts';

const mebibyte = 2 ** 20;
/** `npm start`, the primary and the worker, after some work. */
const sharedBytes = 128 * mebibyte;
/** A front end without its transforms and sources. */
const frontEndBytes = 96 * mebibyte;
/** A light transform, at most (`pool/rendering/execution-plan.ts`). */
export const threadBytes = 128 * mebibyte;
/** A transform process that encodes a 1,600 px AVIF of a 12-megapixel photograph, at least. */
export const leastProcessBytes = 224 * mebibyte;
/** Threads per front end on a machine with many cores. */
const usualThreads = 5;

/*
 * Defaults that fit into the memory of a machine or container. An explicit setting changes those
 * below it in the table, but not those above.
 */

export const memoryCacheBytes = ({ memoryBytes }: Machine): number =>
  Math.min(256 * mebibyte, Math.floor(memoryBytes / 16));

/** Returns the bytes that fetched sources can take in each of a number of front ends. */
export const sourceBytes = ({ memoryBytes }: Machine, processes: number): number =>
  Math.floor(memoryBytes / 10 / processes);

/** Returns the bytes of fetched sources that each of a number of front ends keeps. */
export const sourceCacheBytes = ({ memoryBytes }: Machine, processes: number): number =>
  Math.min(16 * mebibyte, Math.floor(memoryBytes / 64 / processes));

/** Returns the bytes for a front end and its transforms. */
const frontEndShare = (machine: Machine, processes: number): number =>
  (machine.memoryBytes - sharedBytes - memoryCacheBytes(machine)) / processes;

/** Returns the bytes for the transforms of each of a number of front ends; at least one's. */
export const transformBytes = (machine: Machine, processes: number): number =>
  Math.max(
    threadBytes,
    Math.floor(
      frontEndShare(machine, processes) -
        frontEndBytes -
        Math.min(threadBytes, sourceBytes(machine, processes)),
    ),
  );

/** Returns the number of front ends with the usual threads that fit. */
export const fittingProcesses = (machine: Machine): number =>
  frontEndShare(machine, 1) / (frontEndBytes + (usualThreads + 1) * threadBytes);
