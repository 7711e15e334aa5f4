// swift-format-ignore-file
import DAOConformance
import DAOCore
import DAOPropertyTesting
import Foundation
import Testing

// Printed by PropertyTesting.run(on: target, seed: 44, operations: 250),
// where target is sqlite.
@Test func seed44() throws {
    try PropertyTesting.replay(
        [
            .topic(1, version: 1, owner: 2, posts: [1, 2, 1], author: nil, labels: [3]),
            .topic(2, version: 2, owner: nil, posts: [2], author: 1, labels: []),
            .post(5, version: 3, author: 1),
            .person(3, version: 4),
            .label(1, version: 5),
            .folder(.init(1, [.init(2, [.init(1, nil)]), .init(3, [])]), version: 6),
            .retitle(1, version: 7),
            .shorten(1, by: 1),
            .transaction([.eraseTopics([1]), .transaction([.eraseLabels([3])], fails: true)], fails: false),
            .erasePosts([5]),
            .erasePeople([1]),
            .eraseFolders([2]),
            .proposals([1, 2, 1], version: 8, age: 0),
            .proposals([2, 1], version: 9, age: 1),
            .updateProposals([1, 3], version: 10),
            .eraseProposals([2]),
            .errands([.init(1, whole: 2, owner: 2, helper: nil), .init(2, whole: nil, owner: 2, helper: 1)], version: 11),
            .eraseErrands([2]),
            .askErrands(2),
            .ask(.anyPost, 2),
            .ask(.allPosts, 2),
            .ask(.postCount, 2),
            .ask(.labelCount, 2),
            .ask(.otherOwner, 2),
            .ask(.noOwner, 2),
            .ask(.anyAuthor, 2),
            .ask(.otherTopicsOfOwner, 2),
            .ask(.anySharedPost, 2),
            .ask(.noPostByOwner, 2),
            .ask(.postCountOfVersion, 2),
            .ask(.postCountInWords, 2),
            .ask(.versionOfOwner, 2),
            .ask(.byOwner, 2),
        ], on: target)
}
