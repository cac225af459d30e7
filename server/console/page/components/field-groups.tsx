import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { FieldErrors } from '../api/service.ts';
import { TextField } from './fields.tsx';

interface GroupedField {
  readonly name: string;
  readonly group: string;
  /** Whether the group counts the field. */
  readonly isUsed: boolean;
  /** More texts to search. */
  readonly texts: readonly string[];
  readonly control: ComponentChildren;
}

interface FieldGroupsProps {
  /** In order; the first are open initially. */
  readonly groups: readonly string[];
  readonly openCount: number;
  readonly fields: readonly GroupedField[];
  readonly errors: FieldErrors;
  /** Describes counted fields. */
  readonly used?: string;
  /** Such as `parameter`. */
  readonly noun: string;
  /** An example search. */
  readonly example: string;
  readonly grid?: 'controls' | 'fields';
}

/** Wide windows show the result next to the controls; narrow windows start with closed controls. */
export const isWide = (): boolean => matchMedia('(min-width: 60rem)').matches;

/** Controls in groups. A search and an error open a group. */
export function FieldGroups(props: FieldGroupsProps) {
  const {
    groups,
    openCount,
    fields,
    errors,
    noun,
    example,
    used = 'used',
    grid = 'controls',
  } = props;
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const found = fields.filter(({ name, group, texts }) =>
    [name, group, ...texts].some((text) => text.toLowerCase().includes(wanted)),
  );
  const present = groups.filter((group) => fields.some((field) => field.group === group));
  return (
    <>
      <TextField
        label={`Find a ${noun}`}
        help={`Part of its name or its explanation. Example: ${example}`}
        type="search"
        value={search}
        onChange={setSearch}
      />
      {present.map((group, index) => {
        const members = found.filter((field) => field.group === group);
        if (members.length === 0) return null;
        const count = members.filter(({ isUsed }) => isUsed).length;
        const isRefused = members.some(({ name }) => errors.has(name));
        return (
          <details key={group} class="group" open={index < openCount || wanted !== '' || isRefused}>
            <summary>
              {group}
              {count > 0 && (
                <span class="quiet">
                  {' '}
                  {count} {used}
                </span>
              )}
            </summary>
            <div class={grid}>{members.map(({ control }) => control)}</div>
          </details>
        );
      })}
      {found.length === 0 && <p class="quiet">No {noun} matches.</p>}
    </>
  );
}
