import DAOConformance

/// A planted fault of a database. The suite must detect each fault.
enum Fault: String, CaseIterable, Sendable {
    /// No fault, to tell which cases pass without one.
    case none
    // Keys
    case foldsKeyCase, composesKeys, cutsKeysAtNul, cutsLongKeys, ordersKeysAsText, ordersKeysLikeSwift, ordersNegativesLast,
        refusesEmptyKeys, allowsKeyChanges, ignoresKeyChanges
    // Values
    case losesNaN, nanBecomesNil, zeroComesBackNegative, losesInfinity, roundsDates, integersThroughDouble, clampsUnsigned,
        decimalsThroughDouble, emptyBecomesNil, nilBecomesEmpty, cutsTextAtNul, composesText, readsNumericText, trimsText,
        cutsLongValues,
        skipsUnreadableRows, blamesNoRow, dropsNilInArrays, storesJSONAsSpelled, comparesSetsInOrder
    // Predicates
    case threeValuedNil, orderingMatchesNil, nanEqualsNothing, comparesTextWithoutCase, ignoresTextOptions, hitsEndBeforeMarks,
        hitsHalfOfFolded,
        cutsLongLists,
        emptyListMatchesAll, comparesAsText, ignoresAnd, knowsASCIICaseOnly, indexMissesARow, countsNilArraysAsEmpty,
        searchesShortArraysOnly, membersOfNilMatchNothing, comparesTheFirst240Bytes
    // Queries
    case ignoresLimit, limitOffByOne, offsetOffByOne, ignoresOffset, acceptsNegatives, sortsNilLast, sortsNaNFirst,
        ignoresDirection,
        breaksTiesBackwards, ignoresSecondTerm, repeatsKeys, sortsAskedKeys, missingKeysThrow, countIgnoresLimit, countOffByOne,
        cursorIsLive,
        cursorDropsLastRow, totalsDropARow, totalsCountNil, sortsTextLikeSwift, pagesSkipARow, keysNeedReadableRows,
        groupsLeaveOutNil, groupsAreUnordered, groupsForgetFields, groupsCountEveryRow, groupsEndBeforeTheirOrder,
        countsNilAsAValue, distinctSkipsAValue, partialIndexKeepsRows, partialIndexServesAnyQuery, indexesFirstElement,
        indexesEqualElements, plansNothing, plansUnknownIndex, limitsEndBeforeABatch, nilStaysInPlace, sortsFoldedByBytes,
        conditionsSortNothing, breaksTiesOfFoldedByKey, plansNameParts
    // Writes
    case createOverwrites, createKeepsOld, appliesHalf, firstRepeatedWins, repeatedCreatePasses, mergeReplacesWhole,
        mergeYieldsToItsClosure, mergeReadsAhead, writesBackWhatWasRead, updateStoresErased, neverWritesNil,
        eraseMissingThrows, eraseCountsAsked, eraseLeavesOne, updateCountsOne, uniqueIsSilent, uniqueNamesNothing, nilCollides,
        uniqueFoldsCase, dropsLastOfMany, wrapsCallErrors, uniqueNamesKeysReversed, uniqueNamesNoField, updateChangesNothing,
        updateCountsErased,
        uniqueByFirstField, duplicateNamesNothing, revisionsStandStill, setsEveryRow, nilCountsAsZero, uniqueIgnoresCondition,
        batchesLoseTheirRest, uniqueIsJudgedAtOnce
    // Relationships
    case linksForgetOrder, linksMissLastChild, linksMixParents, linksMissParents, linksCountOnce, linksCountRepeats,
        linksDropRepeats,
        linksOnlyGrow, linksOutliveChildren, linksForgetOrderLater, linksOutliveParents, linksForgetSharing, linksHoldEverything,
        linksSurviveRollback, keysMissAskedRows, referencesMissUpserts, forgetsTargetErasures,
        cascadesSpareWhatListsHold
    // Transactions
    case forgetsRollback, losesSavepoints, innerFailureUndoesAll, wrapsBodyErrors, noTransactions, hidesOwnWrites, readersWait,
        readsAfterTheEnd, snapshotIsLive, runsBodyTwice, runsBodyElsewhere, refusesInner, promisesEveryHandle,
        translatesOutside, keysHideOwnWrites, conflictsCommit, undoneWritesReturn, sharedCallsFailTogether,
        failuresLoseTheNextWrite
    // Concurrency
    case sharesNothing, sharesEverything, dropsContendedWrites, capabilitiesVary, waitsInCircle,
        spellingsAreApart, busyComesLate, readsOldRows, readsRunOn, tenantsAreMixed, transactionsSpanTenants, takesAnyPosition
    // Life cycle
    case forgetsClose, closeTwiceThrows, closeDoesNotWait, closesEveryHandle, closesInside, losesLastRowOnClose,
        keepsWhatIsForgotten, errorsInOtherWords, verifiesNothing, compactionLosesARow, suspensionCloses
    // Files, and who is told of calls
    case createsRegardless, writesReadOnly, ignoresUnknownOptions, ignoresEncryptionKeys, showsSecrets, replacesStrangers,
        emptiesDamaged,
        readsDamagedPages, errorsNameNoPath, backupsLoseARow, backupsReplaceAnything, backupsReplaceOthers,
        backupsIntoAnyFile, instrumentsHearNothing,
        instrumentsHearTwice,
        instrumentsMissWaits, instrumentsHearOthers, closedFilesStayOpen, compactionHoldsWriters, pathsStayRelative,
        suspensionIgnoresStreams, keysAreIgnored, keysAreShared, wrongKeysAreStrangers, backupsLoseTheirKey
    // Observation
    case observersHearNothing, observersHearTooEarly, observersMissErasures, observersHearOneEntity, observersMissOtherHandles,
        observersMissReopening, observersMissRunningTransactions, observersOutliveDatabase, observersMayWrite
    // Evolution
    case forgetsEntities, forgetsIndexes, forgetsLongIndexes, forgetsDefaults, losesRenamedValues, keepsOldIndexes,
        keepsFailedMigrations,
        forgetsVersion,
        ignoresNewerVersions, copiesDropARow, copiesForgetHowFar, erasesOnRefusal, letsUniqueCollide,
        dropsUndeclared,
        replacesRetired, cascadesDeclaredOnly, opensEveryDeclaration, partsClearTheRest,
        partsNotifyNobody, rowsOpenDeclarations, referencesMissRewrites, remembersRelations, forgetsNewRelations,
        startsOnAnOldCatalog
    // Changes
    case logMissesErasures, logMissesLists, logMissesFormerValues, logMissesFirstOfMany, logIsTrimmedWhole
    // Search
    case indexMissesWrites, indexMissesErasures, indexKeepsNumbers
    // Servers
    case idleLossShows, lostBodiesRunAgain, lostWritesStay, lostCommitsCount, lostAnswersFail, unknownIsUnreachable,
        outcomesAreReversed, ignoresCancellation, waitsOnAndOn, writersSideBySide, conflictsRunAgain, readsLeaveTheOrder,
        snapshotsMoveOn, strangersAreUnreachable, lossLooksLikeDamage

    /// The faults that are detected.
    static let planted = allCases.filter { $0 != .none }

    /// Whether the fault concerns to-one relationships whose links are in rows. With all other faults, all links are
    /// beside the rows, since their storage evaluates conditions on models, which do not have the keys.
    var isOfReferences: Bool { self == .referencesMissUpserts || self == .referencesMissRewrites }

    /// Whether the fault is in a file, whose cases need a database in one: ``FaultyFile``.
    var isOfFiles: Bool {
        let order = Self.allCases
        func position(_ fault: Fault) -> Int { order.firstIndex(of: fault) ?? 0 }
        return [.spellingsAreApart, .busyComesLate, .startsOnAnOldCatalog, .takesAnyPosition].contains(self)
            || (position(.createsRegardless)..<position(.observersHearNothing)).contains(position(self))
    }

    /// Whether the database with the fault takes options that it does not have.
    var takesEveryOption: Bool { [.ignoresUnknownOptions, .ignoresEncryptionKeys, .showsSecrets].contains(self) }

    /// Whether the database has what the fault breaks.
    var isPossible: Bool {
        #if !Encryption
            if [.keysAreIgnored, .keysAreShared, .wrongKeysAreStrangers, .backupsLoseTheirKey].contains(self) { return false }
        #endif
        return self != .sharedCallsFailTogether || FaultyBase.sharesCommits
    }

    /// The chapter whose cases must detect the fault.
    var chapter: ContractRule.Chapter {
        let all = Self.allCases
        func position(_ fault: Fault) -> Int { all.firstIndex(of: fault) ?? 0 }
        // Only conditions depend on how parents are found.
        if self == .linksMissParents || self == .linksCountOnce { return .predicates }
        switch position(self) {
        case ..<position(.losesNaN): return .keys
        case ..<position(.threeValuedNil): return .values
        case ..<position(.ignoresLimit): return .predicates
        case ..<position(.createOverwrites): return .queries
        case ..<position(.linksForgetOrder): return .writes
        case ..<position(.forgetsRollback): return .relationships
        case ..<position(.sharesNothing): return .transactions
        case ..<position(.forgetsClose): return .concurrency
        case ..<position(.observersHearNothing): return .lifeCycle
        case ..<position(.forgetsEntities): return .observation
        case ..<position(.logMissesErasures): return .evolution
        case ..<position(.indexMissesWrites): return .changes
        case ..<position(.idleLossShows): return .search
        default: return .servers
        }
    }

    /// The faults that property-based testing detects. It compares errors, but not their messages. Its scripts do not observe parts
    /// of entities, do not write in snapshots, store no values without types and no lists of rows that cascade with others, plan no
    /// conditions on elements, write synchronously, increase no number where it is stored, cancel no task, limit no groups,
    /// count no rows that refer by a list, look for no half of a folded letter, have few rows and short texts, and use one file at
    /// a time, which is verified for its damage only.
    static let detectedByProperties = planted.filter {
        $0.chapter != .servers && $0.chapter != .changes && !$0.isOfFiles
            && ![
                .errorsInOtherWords, .partsNotifyNobody, .waitsInCircle, .verifiesNothing, .observersMayWrite,
                .sharedCallsFailTogether, .suspensionCloses, .comparesTheFirst240Bytes, .limitsEndBeforeABatch,
                .batchesLoseTheirRest, .cascadesSpareWhatListsHold, .storesJSONAsSpelled, .plansNameParts,
                .nilCountsAsZero, .readsRunOn, .groupsEndBeforeTheirOrder, .linksCountRepeats, .hitsHalfOfFolded,
                .tenantsAreMixed, .transactionsSpanTenants,
            ].contains($0)
    }

    /// The cases to run for a fault that makes all other cases wait for a timeout, or that others detect too; nil to run every case.
    var onlyCases: Set<String>? {
        switch self {
        case .comparesTheFirst240Bytes: ["P.lengthsOfTexts"]
        case .limitsEndBeforeABatch: ["Q.countsOfRows"]
        case .batchesLoseTheirRest: ["W.countsOfRows"]
        case .cascadesSpareWhatListsHold: ["R.cascadeOfWhatAListHolds"]
        case .readersWait: ["T.readersSeeTheLastCommit"]
        case .runsBodyElsewhere: ["T.runsOnceHere"]
        case .sharedCallsFailTogether: ["T.sharedCommits"]
        case .lostCommitsCount, .lostAnswersFail: ["N.lostCommit"]
        case .waitsOnAndOn: ["N.stalled"]
        case .lossLooksLikeDamage: ["N.idleLossEveryCall"]
        case .conflictsRunAgain: ["N.lostUpdate"]
        case .readsLeaveTheOrder: ["N.writeSkew", "N.phantom", "N.readOnlyAnomaly"]
        case .snapshotsMoveOn: ["N.snapshotBeside"]
        case .spellingsAreApart: ["C.pathSpelling"]
        case .busyComesLate: ["C.processHoldsQueue"]
        case .readsOldRows: ["C.freshReadsBeside"]
        case .readsRunOn: ["C.cancelledReads"]
        case .tenantsAreMixed: ["C.tenantsApart"]
        case .transactionsSpanTenants: ["C.tenantsInOneTransaction"]
        case .takesAnyPosition: ["C.positions"]
        case .pathsStayRelative: ["L.relativePath"]
        case .suspensionIgnoresStreams: ["L.suspendBesideAStream"]
        case .startsOnAnOldCatalog: ["E.buildStartsBesideAnother"]
        case .observersMissRunningTransactions: ["O.beginsBesideATransaction"]
        case .failuresLoseTheNextWrite: ["T.nextCallAfterAFailure"]
        case .plansNameParts: ["Q.elementIndexPlans"]
        case .createsRegardless: ["L.notCreating"]
        case .closedFilesStayOpen: ["L.closedFiles"]
        case .compactionHoldsWriters: ["L.compactHoldsNobodyUp"]
        case .writesReadOnly: ["L.readOnlyConfiguration"]
        case .ignoresUnknownOptions: ["L.unknownOption"]
        case .ignoresEncryptionKeys: ["L.encryptionKey"]
        case .showsSecrets: ["L.secrets"]
        case .replacesStrangers, .errorsNameNoPath: ["L.jpeg", "L.textFile"]
        case .emptiesDamaged: ["L.truncatedToHalf", "L.truncatedByAPage"]
        case .readsDamagedPages: ["L.bitFlips"]
        case .backupsLoseARow: ["L.backup"]
        case .backupsReplaceAnything: ["L.backupRefusals"]
        case .backupsReplaceOthers: ["L.backupOfAnother"]
        case .backupsIntoAnyFile: ["L.backupBesideStrangers"]
        case .keysAreIgnored, .keysAreShared, .wrongKeysAreStrangers: ["L.encryption"]
        case .backupsLoseTheirKey: ["L.encryptedBackups"]
        case .instrumentsHearNothing, .instrumentsHearTwice: ["L.instrumentCalls"]
        case .instrumentsMissWaits: ["L.instrumentWaits"]
        case .logMissesErasures, .logMissesFirstOfMany: ["D.calls"]
        case .logMissesLists: ["D.related"]
        case .logMissesFormerValues: ["D.values"]
        case .logIsTrimmedWhole: ["D.consumers"]
        case .indexMissesWrites, .indexMissesErasures, .indexKeepsNumbers: ["S.everyWrite"]
        case .instrumentsHearOthers: ["L.instrumentAlone"]
        default: nil
        }
    }

    /// How long a case may take. With a fault of observations, a case waits until this timeout.
    var timeLimit: Duration {
        chapter == .observation || self == .partsNotifyNobody ? .seconds(2) : .seconds(30)
    }

    /// Whether writers run side by side in the database with the fault.
    var hasConcurrentWriters: Bool {
        [.writersSideBySide, .conflictsRunAgain, .readsLeaveTheOrder].contains(self)
    }

    var limits: ArrayDatabase.Limits {
        var limits = ArrayDatabase.Limits()
        limits.hasReferencesInRows = isOfReferences
        limits.isPersistent = [.losesLastRowOnClose, .keepsWhatIsForgotten, .undoneWritesReturn].contains(self)
        return limits
    }
}
