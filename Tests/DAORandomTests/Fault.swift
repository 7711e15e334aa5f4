import DAOCore

/// What is wrong with a broken database.
enum Fault: String, CaseIterable, Sendable {
    /// A limit gives one row more.
    case limitOffByOne
    /// Reading does not leave out the first rows.
    case offsetIgnored
    /// Ties under a descending sort come in descending order of keys.
    case tiesDescend
    /// A nil field does not differ from a value, as in SQL.
    case nilIsNotUnequal
    /// `in` of nothing is everything.
    case emptyListMatches
    /// Letters beyond ASCII have no case.
    case caseOfASCIIOnly
    /// Text sorts by canonical equivalence, as Swift's `<` has it.
    case sortsBySwift
    /// Equality on an indexed field misses a row.
    case indexForgets
    /// Counting does not look at the limit.
    case countIgnoresLimit
    /// Creating what is there replaces it.
    case createReplaces
    /// The last of three and more rows is not stored.
    case lastRowForgotten
    /// The rows before a failing one stay.
    case partlyApplied
    /// A unique field refuses in silence.
    case uniqueInSilence
    /// The error names the keys in each other's place.
    case conflictReversed
    /// The error does not say which field is unique.
    case conflictWithoutField
    /// Merging replaces.
    case mergeReplaces
    /// A changed key is ignored in silence.
    case keyChangeInSilence
    /// An update counts rows but changes nothing where it sets one field.
    case updateForgotten
    /// Erasing counts keys, not rows.
    case eraseCountsKeys
    /// Rows are read by key in key order.
    case keysSorted
    /// A key asked for twice is read twice.
    case keysRepeated
    /// The second page begins one row late.
    case pageSkipsRow
    /// NaN reads back as zero.
    case nanLost
    /// Text is composed when it is stored.
    case textComposed
    /// A nil counts as zero in totals.
    case totalsCountNil
    /// A cursor sees what is written after it was made.
    case cursorIsLive
    /// A snapshot sees what is committed after it was taken.
    case snapshotIsLive
    /// A transaction that throws is committed.
    case rollbackLost
    /// A transaction inside another that throws keeps its writes.
    case savepointLost
    /// Children are read in key order.
    case linksSorted
    /// Erasing a child leaves it in lists.
    case linksOutliveChildren
    /// Who else holds a child is not asked.
    case linksForgetSharing
    /// Conditions on children miss a parent.
    case linksMissParents
    /// A closed database answers.
    case neverCloses
}
