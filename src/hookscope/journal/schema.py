"""The journal's tables, version after version. Pure text: `database` runs it.

A run is written twice: its event when it begins, all else when it ends. What is asked of many runs – how
many there are, which of them hold a word – is brought up to date later, by `tidying`: until then a run is
`fresh`. So an append touches few pages.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

# One script a version, in order; `user_version` counts those that have run. Never edit one: add one.
MIGRATIONS = (
    """
    create table runs (
        id integer primary key autoincrement,  -- never given twice, also after old runs are gone
        workspace text not null,
        dialect text not null,
        key text not null,
        event text not null,
        started text not null,
        started_ms integer not null,
        owner_pid integer not null,
        owner_started text not null,
        ended text,
        outcome text,
        took real,
        document text,
        size integer not null
    );
    create index runs_of_workspace on runs (workspace, id);
    create index runs_failed on runs (workspace, id) where outcome = 'failed';
    create index runs_by_size on runs (id, size);
    create table results (
        run integer not null references runs (id) on delete cascade,
        position integer not null,
        hook text not null,
        key text not null,
        status text not null,
        took real not null,
        primary key (run, position)
    ) without rowid;
    create index results_of_hook on results (hook, run);
    create index results_failed on results (hook, run) where status <> 'ok';
    create table entries (
        id integer primary key autoincrement,
        at text not null,
        at_ms integer not null,
        workspace text not null,
        kind text not null,
        subject text not null,
        level text not null,
        text text not null,
        detail text
    );
    create index entries_of_workspace on entries (workspace, id);
    """,
    """
    create table workspaces (id integer primary key, path text not null unique);
    insert into workspaces (path) select distinct workspace from runs;

    create table settings (id integer primary key, digest blob not null unique, text text not null);

    -- What many runs have in common. `runs` counts those that are not fresh.
    create table circumstances (
        id integer primary key,
        digest blob not null unique,
        dialect text not null,
        version text not null,
        settings integer,
        handlers text not null,
        runs integer not null default 0
    );
    create index circumstances_unused on circumstances (id) where runs = 0;
    create index circumstances_of_settings on circumstances (settings);
    insert into circumstances (digest, dialect, version, handlers)
        select distinct cast('1 ' || dialect as blob), dialect, '', '[]' from runs;

    -- For each workspace and interest: the runs that are not fresh. None of them is older than `oldest`.
    create table totals (
        workspace integer not null,
        interest integer not null,
        runs integer not null,
        size integer not null,
        oldest integer not null,
        primary key (workspace, interest)
    ) without rowid;

    create table fresh (run integer primary key);  -- neither counted nor searchable by index

    alter table runs rename to runs_of_version_1;
    create table runs (
        id integer primary key autoincrement,  -- never given twice, also after old runs are gone
        workspace integer not null,
        circumstances integer not null,
        key text not null,
        at integer not null,  -- never less than that of the run before, whatever the clock does
        started_ms integer not null,
        owner_pid integer not null,
        owner_started text not null,
        outcome text,  -- null: no end
        took real,
        pinned integer not null default 0,
        size integer not null,
        interest integer generated always as
            (case when pinned then 2 when outcome = 'failed' then 1 else 0 end) virtual,
        event text not null,
        document text
    );
    insert into runs (id, workspace, circumstances, key, at, started_ms, owner_pid, owner_started,
                      outcome, took, size, event, document)
        select r.id, w.id, c.id, r.key, max(r.started_ms) over (order by r.id), r.started_ms, r.owner_pid,
               r.owner_started, r.outcome, r.took, r.size, r.event, r.document
        from runs_of_version_1 r
        join workspaces w on w.path = r.workspace
        join circumstances c on c.dialect = r.dialect;
    -- A migrated table has the counter of its rows; the highest of them may have gone before.
    insert into sqlite_sequence (name, seq)
        select 'runs', 0 where not exists (select 1 from sqlite_sequence where name = 'runs');
    update sqlite_sequence set seq = max(seq, coalesce(
        (select seq from sqlite_sequence where name = 'runs_of_version_1'), 0)) where name = 'runs';
    drop table results;
    drop table runs_of_version_1;
    create index runs_of_workspace on runs (workspace);
    create index runs_of_interest on runs (workspace, interest) where interest > 0;
    insert into fresh select id from runs;

    create trigger run_comes after insert on runs begin
        insert into fresh values (new.id);
    end;
    create trigger run_goes after delete on runs begin
        update totals set runs = runs - 1, size = size - old.size
            where workspace = old.workspace and interest = old.interest
            and not exists (select 1 from fresh where run = old.id);
        update circumstances set runs = runs - 1
            where id = old.circumstances and not exists (select 1 from fresh where run = old.id);
        delete from fresh where run = old.id;
    end;
    create trigger run_is_pinned after update of pinned on runs
        when not exists (select 1 from fresh where run = old.id)
    begin
        update totals set runs = runs - 1, size = size - old.size
            where workspace = old.workspace and interest = old.interest;
        insert or ignore into totals values (new.workspace, new.interest, 0, 0, new.id);
        update totals set runs = runs + 1, size = size + new.size, oldest = min(oldest, new.id)
            where workspace = new.workspace and interest = new.interest;
    end;
    """,
)
VERSION = len(MIGRATIONS)


def statements(script: str) -> Iterator[str]:
    """The statements of a script one by one; those of a trigger stay together."""
    statement = ""
    for part in script.split(";")[:-1]:
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
